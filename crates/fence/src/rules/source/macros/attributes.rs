//! Attributes: their arguments as tokens, and the paths in serde's strings.

use syn::punctuated::Punctuated;

use crate::LintRule;
use crate::names::resolve::{KnownType, Meaning, Namespace};
use crate::rules::source::Checker;
use crate::syntax::cfg::attr_metas;
use crate::syntax::name_list::NameList;
use crate::syntax::written::{Name, Path, Segment, bare};

/// Attributes whose arguments never become code that makes a value.
const PLAIN_ATTRIBUTES: NameList = NameList(
    "doc cfg cfg_attr derive allow warn deny forbid expect inline must_use deprecated repr path \
     macro_use macro_export test bench ignore should_panic no_mangle export_name link link_name \
     link_section cold track_caller target_feature non_exhaustive automatically_derived feature rustfmt \
     clippy recursion_limit no_std no_core crate_type crate_name proc_macro proc_macro_derive \
     proc_macro_attribute",
);
/// The longest string that is parsed as a path. A longer one could nest deeply enough to exhaust the stack.
pub(crate) const MOST_IN_TEXT: usize = 512;

impl Checker<'_> {
    /// Checks the arguments of an attribute as tokens, and serde's paths in strings.
    pub(crate) fn attribute(&mut self, attr: &syn::Attribute) {
        let path = attr.path();
        let first = path.segments.first().map(|seg| bare(&seg.ident)).unwrap_or_default();
        if first == "cfg_attr" {
            if let syn::Meta::List(list) = &attr.meta {
                for meta in attr_metas(list) {
                    self.meta(&meta);
                }
            }
            return;
        }
        self.meta(&attr.meta);
    }

    fn meta(&mut self, meta: &syn::Meta) {
        let first = meta.path().segments.first().map(|seg| bare(&seg.ident)).unwrap_or_default();
        if PLAIN_ATTRIBUTES.has(&first) || !self.applies.dependent {
            return;
        }
        let syn::Meta::List(list) = meta else { return };
        if first == "serde" {
            self.serde(list);
        }
        self.scan_tokens(&list.tokens);
    }

    /// Checks `#[serde(default = "T::new", with = "module", deserialize_with = "f")]`.
    fn serde(&mut self, list: &syn::MetaList) {
        let metas = list.parse_args_with(Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated);
        for meta in metas.iter().flatten() {
            let syn::Meta::NameValue(pair) = meta else { continue };
            let wanted = ["default", "with", "deserialize_with"].iter().any(|key| pair.path.is_ident(key));
            let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &pair.value else { continue };
            let text_value = text.value();
            if text_value.len() > MOST_IN_TEXT {
                continue;
            }
            let Ok(path) = syn::parse_str::<syn::ExprPath>(&text_value) else { continue };
            if wanted {
                let mut written = Path::with_self(&path.path, path.qself.as_ref());
                if pair.path.is_ident("with") {
                    written.segs.push(Segment { name: Name::from("deserialize"), args: Vec::new() });
                }
                self.serde_path(&written, text.span());
            }
        }
    }

    fn serde_path(&mut self, written: &Path, span: proc_macro2::Span) {
        let res = self.resolve(written, Namespace::Value);
        let function = written.segs.get(res.used).map(|seg| Name::clone(&seg.name));
        let made = match (&res.what, &function) {
            (
                Meaning::Type(KnownType::Cap(id)) | Meaning::Qualified { own: KnownType::Cap(id), .. },
                Some(name),
            ) => self.constructs(*id, name).then_some(*id),
            (Meaning::Value { module, name }, _) => self.free_constructor(*module, name),
            _ => None,
        };
        if let Some(id) = made {
            let ty = self.type_name(id);
            let message = format!("serde makes a `{ty}` with the function named here");
            self.report(LintRule::F02, "serde", span, Some(id), message);
        }
    }
}
