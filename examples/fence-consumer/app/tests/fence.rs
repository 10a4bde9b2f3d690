//! The whole workspace, in one test.

#[test]
fn only_the_mint_makes_capabilities() -> Result<(), plugward_fence::FenceError> {
    let fence = plugward_fence::Fence::from_workspace(env!("CARGO_MANIFEST_DIR").as_ref())?;
    fence.run()?.assert_clean();
    Ok(())
}
