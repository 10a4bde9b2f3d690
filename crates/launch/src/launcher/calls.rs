//! The calls that seccomp denies by number or by one argument.

/// Calls that reach other processes, mounts, namespaces, much code of the kernel, or attributes of files that Landlock does
/// not compare.
pub(super) const DENIED: [i64; 44] = [
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    SETXATTRAT,
    REMOVEXATTRAT,
    OPEN_TREE_ATTR,
    FILE_SETATTR,
];
/// Calls that reach objects that are not files. A namespace has its own.
pub(super) const DENIED_WITHOUT_NAMESPACE: [i64; 13] = [
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];
/// Calls that change the mode or the times of a file.
pub(super) const ATTRIBUTES: [i64; 4] =
    [libc::SYS_fchmod, libc::SYS_fchmodat, FCHMODAT2, libc::SYS_utimensat];
/// Calls that set the mode of a file, each with the number of that argument.
pub(super) const MODES: [(i64, u8); 4] =
    [(libc::SYS_fchmod, 1), (libc::SYS_fchmodat, 2), (FCHMODAT2, 2), (libc::SYS_mknodat, 2)];
/// A call that can create a file, with the numbers of the flags and the mode.
pub(super) const OPENAT: (i64, u8, u8) = (libc::SYS_openat, 2, 3);
/// Calls that only x86-64 has.
#[cfg(target_arch = "x86_64")]
pub(super) mod older {
    pub(in super::super) const DENIED: &[i64] = &[libc::SYS_chown, libc::SYS_lchown];
    pub(in super::super) const ATTRIBUTES: &[i64] =
        &[libc::SYS_chmod, libc::SYS_utime, libc::SYS_utimes, libc::SYS_futimesat];
    pub(in super::super) const MODES: &[(i64, u8)] =
        &[(libc::SYS_chmod, 1), (libc::SYS_creat, 1), (libc::SYS_mknod, 1)];
    pub(in super::super) const OPENS: &[(i64, u8, u8)] = &[(libc::SYS_open, 1, 2)];
}
#[cfg(not(target_arch = "x86_64"))]
pub(super) mod older {
    pub(in super::super) const DENIED: &[i64] = &[];
    pub(in super::super) const ATTRIBUTES: &[i64] = &[];
    pub(in super::super) const MODES: &[(i64, u8)] = &[];
    pub(in super::super) const OPENS: &[(i64, u8, u8)] = &[];
}
// Numbers that are the same for all processors.
const FCHMODAT2: i64 = 452;
const SETXATTRAT: i64 = 463;
const REMOVEXATTRAT: i64 = 466;
const OPEN_TREE_ATTR: i64 = 467;
const FILE_SETATTR: i64 = 469;
