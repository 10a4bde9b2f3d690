//! Spans, the code view and pieces of text.

use plugward_readers::js::{HtmlComments, JsOptions, JsTypes, JsxTags, read};
use plugward_readers::{Node, Obfuscations, PieceKind};

/// Returns the source of each call.
fn calls(source: &str) -> Vec<&str> {
    let program = read(source.as_bytes(), JsOptions::for_path("a.js")).program;
    let is_call = |node| matches!(node, Node::Call { .. } | Node::Import(_));
    let calls = program.ids().filter(|id| is_call(program.node(*id)));
    calls.map(|id| program.span(id)).map(|(start, end)| &source[start..end]).collect()
}

#[test]
fn a_call_is_where_its_function_starts() {
    for (source, expected) in [
        ("x = a.b(c);", vec!["a.b(c)"]),
        ("  (0, a)(b) ", vec!["(0, a)(b)"]),
        ("new a.B(c, d).e()", vec!["new a.B(c, d)", "new a.B(c, d).e()"]),
        ("a`b${c}d` + e", vec!["a`b${c}d`"]),
        ("await a?.(b)", vec!["a?.(b)"]),
        ("x = import('a') ;", vec!["import('a')"]),
        ("import a from 'b';", vec!["import a from 'b'"]),
        ("(function () {})()", vec!["(function () {})()"]),
        ("a( /* b */ )", vec!["a( /* b */ )"]),
        ("@a.b(c) class D {}", vec!["a.b(c)", "@a.b(c)"]),
        ("a(b", vec!["a(b"]),
        ("(async (a) => a)(b)", vec!["(async (a) => a)(b)"]),
    ] {
        assert_eq!(calls(source), expected, "{source}");
    }
}

#[test]
fn names_and_texts_are_where_they_are_written() {
    let source = "a = 'b' + `c` + d.e";
    let program = read(source.as_bytes(), JsOptions::for_path("a.js")).program;
    let spans: Vec<&str> =
        program.ids().map(|id| program.span(id)).map(|(start, end)| &source[start..end]).collect();
    assert_eq!(spans, ["a", "'b'", "`c`", "d", "d.e", "'b' + `c` + d.e", source]);
}

#[test]
fn the_code_view_has_no_texts_and_no_comments() {
    for (source, expected) in [
        ("a  =  'b' // c", "a=''"),
        ("return  a /* b */ + c", "return a+c"),
        ("`a${b}c${d}`", "`${b}${d}`"),
        ("x = /a b/g", "x=/./"),
        ("({ 'abc': 1, 'ab': 2, 'a b c': 3 })", "({abc:1,'':2,'':3})"),
        ("ev\\u0061l(1)", "eval(1)"),
        ("x = <p a=\"b\">c</p>", "x=<>"),
        ("#!a\nb", "b"),
    ] {
        let source = source.replace("\\\\", "\\");
        let reading = read(source.as_bytes(), JsOptions::for_path("a.js"));
        assert_eq!(String::from_utf8_lossy(&reading.code.bytes), expected, "{source}");
    }
    let reading = read(b"ev\\u0061l(1)", JsOptions::for_path("a.js"));
    assert_eq!(reading.code.map.back(0, 4), (0, 9, Obfuscations::ESCAPE));
}

#[test]
fn texts_and_comments_are_pieces_in_order() {
    let source = "// a\nb('c', `d${e}f`) /* g */; x = <p h='i'>j{'\\x6B'}</p>; ''";
    let reading = read(source.as_bytes(), JsOptions::for_path("a.js"));
    let pieces: Vec<_> = reading
        .pieces
        .iter()
        .map(|piece| (piece.kind, &source[piece.start as usize..piece.end as usize], piece.is_escaped))
        .collect();
    assert_eq!(
        pieces,
        [
            (PieceKind::Comment, "// a", false),
            (PieceKind::String, "'c'", false),
            (PieceKind::String, "`d${", false),
            (PieceKind::String, "}f`", false),
            (PieceKind::Comment, "/* g */", false),
            (PieceKind::Markup, "'i'", false),
            (PieceKind::Markup, "j", false),
            (PieceKind::String, "'\\x6B'", true),
        ]
    );
}

#[test]
fn the_file_extension_names_the_grammar() {
    for (path, types, jsx) in [
        ("a.js", JsTypes::None, JsxTags::Read),
        ("a.mjs", JsTypes::None, JsxTags::None),
        ("a/b.TSX", JsTypes::Erased, JsxTags::Read),
        ("a.d.cts", JsTypes::Erased, JsxTags::None),
        ("a", JsTypes::None, JsxTags::Read),
    ] {
        let options = JsOptions::for_path(path);
        assert_eq!((options.types, options.jsx), (types, jsx), "{path}");
        assert_eq!(options.html_comments, HtmlComments::Code);
    }
}

#[test]
fn marks_of_html_are_comments_in_scripts_alone() {
    let mut options = JsOptions::for_path("a.js");
    let source = b"a <!-- b()\n--> c()";
    let module = read(source, options);
    assert!(module.has_html_comments && module.program.len() > 1);
    options.html_comments = HtmlComments::Comment;
    assert_eq!(read(source, options).program.len(), 1);
    assert!(!read(b"'<!--' // <!--", options).has_html_comments);
}
