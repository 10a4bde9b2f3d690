//! Schemas, as literals in sources and as JSON in manifests.

use plugward_lifecycle::{ConfigValue, FieldType, Hints, ItemType, Schema, SchemaError, exported_hints};
use proptest::prelude::*;

fn source(literal: &str) -> Result<Option<Schema>, SchemaError> {
    Schema::from_source(&format!(
        "import x from './x';\nexport const SCHEMA = {literal};\nexport const other = 1;\n"
    ))
}

fn codes(error: &SchemaError) -> Vec<&'static str> {
    error.faults().map(|fault| fault.kind.code()).collect()
}

#[test]
fn schema_from_source() {
    let schema = source(
        r#"{
        // The comment of a line, with { and "quotes".
        plain: { type: "string" as const, description: 'It\'s \u{41}\x42\u0043 \
continued', default: `a "template"` , maxLength: 1_0 },
        "quoted-key": { type: "number", minimum: -1.5e1, maximum: 0xff, default: +7, },
        flag: { type: ("boolean" as string), }, /* a block */
    }"#,
    );
    // Brackets around a value are an expression.
    assert_eq!(codes(&schema.unwrap_err()), ["schema/not-literal"]);
    let schema = source(
        r#"{
        plain: { type: "string" as const, description: 'It\'s \u{41}\x42\u0043 \
continued', default: `a "template"` , maxLength: 1_0_0 },
        "quoted-key": { type: "number", minimum: -1.5e1, maximum: 0xff, default: +7, },
        list: { type: "array", items: { type: "number" }, default: [1, 2.5] as number[], required: true, promptKey: true },
        flag: { type: "boolean", default: false } satisfies Field<"a", { b: c }>,
    } as const satisfies ConfigSchema"#,
    )
    .unwrap()
    .unwrap();
    let [plain, quoted, list, flag] = schema.fields() else { panic!("{schema:?}") };
    assert_eq!(
        (plain.kind, plain.description.as_str(), plain.max_length),
        (FieldType::String, "It's ABC continued", Some(100))
    );
    assert_eq!(plain.default, Some(ConfigValue::String("a \"template\"".to_owned())));
    assert_eq!(
        (quoted.key.as_str(), quoted.minimum, quoted.maximum),
        ("quoted-key", Some(-15.0), Some(255.0))
    );
    assert_eq!((list.items, list.is_required, list.is_prompted), (ItemType::Number, true, true));
    assert_eq!(
        list.default,
        Some(ConfigValue::Array(vec![ConfigValue::Number(1.0), ConfigValue::Number(2.5)]))
    );
    assert_eq!(flag.default, Some(ConfigValue::Boolean(false)));
}

#[test]
fn only_an_exported_constant_is_the_schema() {
    for without in [
        "",
        "const SCHEMA = build();",
        "// export const SCHEMA = {}",
        "/* export const SCHEMA = build() */",
        "const text = 'export const SCHEMA = build()';",
        "const text = `${a}export const SCHEMA = build()`;",
        "const pattern = /export const SCHEMA = {'/;",
        "export const SCHEMA_VERSION = build();",
        "export type Config = ConfigValues<typeof SCHEMA>;",
        "import { SCHEMA } from './schema.js';",
        "export { SCHEMA as other };",
    ] {
        assert_eq!(Schema::from_source(without), Ok(None), "{without}");
    }
    for with in [
        "export const SCHEMA = {}",
        "#!/usr/bin/env node\nexport const SCHEMA: ConfigSchema = {};",
        "export const SCHEMA: Record<string, Field> = {}\nexport default 1",
        "const half = a / b; export const SCHEMA = {}; const other = c / d;",
        "const text = `${ `${1}` }`;\nexport const SCHEMA = {};",
        "const pattern = /[`'\"/]{/g\nexport const SCHEMA = {} // the end",
        "if (x) { y() } /'/.test(z);\nexport const SCHEMA = {};",
        "const it = \"it's\"\nexport  const\nSCHEMA = /* empty */ {}\n\n@decorator class A {}",
    ] {
        assert_eq!(Schema::from_source(with), Ok(Some(Schema::default())), "{with}");
    }
}

#[test]
fn computed_parts_are_named_with_their_place() {
    let error = source("{\n  a: { type: KIND, default: 1 + 1 },\n  ...more,\n  b: { type: `${x}`, description: \"a\" + \"b\" },\n  [c]: {},\n  d() {},\n  e,\n  f: 10n,\n  g: '\\01'\n}").unwrap_err();
    let found: Vec<_> =
        error.faults().map(|fault| (fault.place.line, fault.place.column, fault.message.as_str())).collect();
    assert_eq!(
        found,
        [
            (3, 14, "expected a literal, got `KIND`"),
            (3, 31, "expected `,` after a literal, got `+`"),
            (4, 3, "expected `key: value`, got `.`"),
            (5, 14, "expected a literal, got ``${`"),
            (5, 39, "expected `,` after a literal, got `+`"),
            (6, 3, "expected `key: value`, got `[`"),
            (7, 4, "expected `key: value`, got `(`"),
            (8, 4, "expected `key: value`, got `,`"),
            (9, 6, "expected a finite number, got `10n`"),
            (10, 6, "expected a text whose escapes are valid, got `'\\01'`"),
        ]
    );
    assert_eq!(error.to_string(), "3:14: expected a literal, got `KIND`");
    assert!(!error.help().is_empty());
}

#[test]
fn other_forms_of_the_export_are_refused() {
    for wrong in [
        "export const SCHEMA = build({});",
        "export const SCHEMA = {}.x;",
        "export const SCHEMA = {}\n[0]",
        "export const SCHEMA = {} || other;",
        "export const SCHEMA = {}\n`tag`",
        "export const SCHEMA = {} as ;",
        "export const SCHEMA;",
        "export const SCHEMA = {",
        "export const SCHEMA = [[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]];",
        "export const SCHEMA = {}; export const SCHEMA = {};",
        "export let SCHEMA = {};",
        "export function SCHEMA() {}",
        "const SCHEMA = {}; export { SCHEMA };",
        "export { other as SCHEMA };",
        "export const { SCHEMA } = other;",
        "const text = `\nexport const SCHEMA = {};",
        "const open = () => {\n'SCHEMA'",
    ] {
        let error = Schema::from_source(wrong).unwrap_err();
        assert_eq!(error.code(), "schema/not-literal", "{wrong}");
    }
}

#[test]
fn contradictory_fields_are_refused() {
    for (field, message) in [
        ("{}", "`a`: expected a `type`"),
        ("{ type: 'integer' }", "`a`: expected `string`, `number`, `boolean` or `array` as `type`"),
        ("{ type: 1 }", "`a`: expected a string as `type`, got a number"),
        ("'string'", "`a`: expected an object with `type`, got a string"),
        ("{ type: 'string', minimum: 1 }", "`a`: expected no `minimum` for the type `string`"),
        ("{ type: 'number', minimum: '1' }", "`a`: expected a number as `minimum`, got a string"),
        ("{ type: 'number', minimum: 2, maximum: 1 }", "`a`: expected a `maximum` of at least 2, got 1"),
        (
            "{ type: 'number', maxLength: 1 }",
            "`a`: expected a whole number as `maxLength`, for a string or an array",
        ),
        (
            "{ type: 'string', maxLength: 1.5 }",
            "`a`: expected a whole number as `maxLength`, for a string or an array",
        ),
        ("{ type: 'string', items: { type: 'string' } }", "`a`: expected no `items` for the type `string`"),
        (
            "{ type: 'array', items: { type: 'object' } }",
            "`a`: expected `string`, `number` or `boolean` as the type of `items`",
        ),
        ("{ type: 'string', required: 'yes' }", "`a`: expected a boolean as `required`, got a string"),
        ("{ type: 'string' }, a: { type: 'string' }", "expected each field once, got `a` again"),
        (
            "{ type: 'string' }, 'b c': { type: 'string' }",
            "`b c`: expected a key of 1 to 64 characters without blanks and `=`",
        ),
        (
            "{ type: 'string' }, __proto__: { type: 'string' }",
            "`__proto__`: expected a key of 1 to 64 characters without blanks and `=`",
        ),
    ] {
        let error = source(&format!("{{ a: {field} }}")).unwrap_err();
        let found: Vec<_> = error.faults().map(|fault| fault.message.as_str()).collect();
        assert_eq!((codes(&error), found), (vec!["schema/field"], vec![message]), "{field}");
    }
    assert_eq!(codes(&source("[]").unwrap_err()), ["schema/field"]);
    // Keys without an effect are ignored, as in HyperAgent.
    assert!(source("{ a: { type: 'number', minimum: 1, maximum: 1, label: null } }").is_ok());
}

#[test]
fn defaults_pass_their_own_field() {
    for (wrong, right) in [
        ("type: 'string', default: 1", "type: 'string', default: '1'"),
        ("type: 'number', default: '1'", "type: 'number', default: 1"),
        ("type: 'boolean', default: null", "type: 'boolean', default: true"),
        ("type: 'array', default: 'a'", "type: 'array', default: ['a']"),
        ("type: 'array', default: [['a']]", "type: 'array', default: []"),
        ("type: 'array', default: ['a', 1]", "type: 'array', default: ['a', '1']"),
        ("type: 'number', default: 0, minimum: 1", "type: 'number', default: 1, minimum: 1"),
        ("type: 'string', default: 'ab', maxLength: 1", "type: 'string', default: 'ä', maxLength: 1"),
    ] {
        assert_eq!(
            codes(&source(&format!("{{ a: {{ {wrong} }} }}")).unwrap_err()),
            ["schema/default"],
            "{wrong}"
        );
        assert!(source(&format!("{{ a: {{ {right} }} }}")).is_ok(), "{right}");
    }
}

#[test]
fn sizes_are_limited() {
    let fields = |count: usize| {
        (0..count).map(|number| format!("f{number}: {{ type: 'string' }},")).collect::<Vec<_>>().concat()
    };
    assert_eq!(source(&format!("{{ {} }}", fields(100))).unwrap().unwrap().fields().len(), 100);
    assert_eq!(codes(&source(&format!("{{ {} }}", fields(101))).unwrap_err()), ["schema/too-large"]);
    let described = |length: usize| {
        source(&format!("{{ a: {{ type: 'string', description: '{}' }} }}", "x".repeat(length)))
    };
    assert!(described(60_000).is_ok());
    assert_eq!(codes(&described(66_000).unwrap_err()), ["schema/too-large"]);
}

#[test]
fn prompt_keys_of_a_manifest_mark_their_fields() {
    let json = r#"{"a": {"type": "string", "default": ""}, "b": {"type": "number", "default": 1}}"#;
    let schema = Schema::from_manifest(json, &["b".to_owned()]).unwrap();
    assert_eq!(schema.fields().iter().map(|field| field.is_prompted).collect::<Vec<_>>(), [false, true]);
    let error = Schema::from_manifest(json, &["c".to_owned()]).unwrap_err();
    assert_eq!(
        (error.code(), error.to_string().as_str()),
        ("schema/field", "1:1: expected a field for `c` in `promptKeys`")
    );
    let error = Schema::from_manifest(json, &["c\u{202e}".to_owned()]).unwrap_err();
    assert!(!error.to_string().contains('\u{202e}'), "{error}");
}

#[test]
fn hints_are_texts() {
    let hints =
        Hints::from_manifest(r#"{"overview": "a", "criticalRules": ["b", "c"], "optionalPlugins": ["x"]}"#)
            .unwrap();
    assert_eq!((hints.overview.as_str(), hints.critical_rules.len()), ("a", 2));
    assert_eq!(Hints::from_manifest(r#"{"overview": 1}"#).unwrap_err().code(), "schema/not-literal");
    assert_eq!(Hints::from_manifest("[]").unwrap_err().code(), "schema/not-literal");
    assert_eq!(exported_hints("export const _HINTS = `a\r\nb`;"), Ok(Some("a\nb".to_owned())));
    assert_eq!(exported_hints("const _HINTS = 1;"), Ok(None));
    assert_eq!(exported_hints("export const _HINTS = `${a}`;").unwrap_err().code(), "schema/not-literal");
    assert_eq!(exported_hints("export const _HINTS = {};").unwrap_err().code(), "schema/not-literal");
}

#[test]
fn deep_nesting_does_not_exhaust_the_stack() {
    for open in ["[", "{a:", "`${", "(", "{a:[-", "<"] {
        let text = format!("export const SCHEMA = {}", open.repeat(200_000));
        assert_eq!(Schema::from_source(&text).unwrap_err().code(), "schema/not-literal", "{open}");
    }
}

/// The plugins of the npm package `@hyperlight-dev/hyperagent` 0.7.0, if the variable names its directory
/// `dist/lib/plugins`.
#[test]
fn npm_plugins() {
    let Ok(directory) = std::env::var("PLUGWARD_TEST_HYPERAGENT") else {
        return println!("skipped: PLUGWARD_TEST_HYPERAGENT is not set");
    };
    for (name, expected) in [
        ("fetch", include_str!("../data/fetch.txt")),
        ("fs-read", include_str!("../data/fs-read.txt")),
        ("fs-write", include_str!("../data/fs-write.txt")),
        ("mcp", include_str!("../data/mcp.txt")),
    ] {
        for file in ["index.ts", "index.js"] {
            let source = std::fs::read_to_string(format!("{directory}/{name}/{file}")).unwrap();
            let schema = Schema::from_source(&source).unwrap().unwrap();
            let lines = schema.fields().iter().map(|field| {
                let default = field.default.as_ref().map(ToString::to_string);
                format!(
                    "{} {} {default:?} {:?} {:?} {:?} {} {}\n",
                    field.key,
                    field.kind.as_str(),
                    field.minimum,
                    field.maximum,
                    field.max_length,
                    field.is_required,
                    field.is_prompted
                )
            });
            assert_eq!(lines.collect::<String>(), expected, "{name}/{file}");
            assert_eq!(exported_hints(&source).unwrap().is_some(), name == "mcp");
        }
    }
}

proptest! {
    #[test]
    fn any_source_is_answered(source in r#"(export const SCHEMA = ?|[{}\[\](),:;'"`/\\$<>a1.\n -]|as |\$\{){0,60}"#) {
        drop(Schema::from_source(&source));
    }

    #[test]
    fn json_texts_are_read_as_written(text in "[^\\p{Cc}]{0,40}") {
        let json: String = text.chars().map(|one| match one { '"' | '\\' => format!("\\{one}"), other => other.to_string() }).collect();
        let schema = Schema::from_manifest(&format!(r#"{{"a": {{"type": "string", "default": "{json}"}}}}"#), &[]).unwrap();
        prop_assert_eq!(&schema.fields()[0].default, &Some(ConfigValue::String(text)));
    }
}
