//! Values as users type them.

use plugward_lifecycle::{ConfigError, ConfigValue, Schema, inline};
use proptest::prelude::*;

const JSON: &str = r#"{
    "flag": {"type": "boolean"}, "number": {"type": "number"}, "text": {"type": "string", "required": true},
    "list": {"type": "array", "required": true, "maxLength": 5}, "numbers": {"type": "array", "items": {"type": "number"}}
}"#;

fn parse(arg: &str) -> Result<ConfigValue, String> {
    let schema = Schema::from_manifest(JSON, &[]).unwrap();
    let key = arg.split('=').next().unwrap();
    inline(&schema, [arg])
        .map(|given| given.get(key).unwrap().clone())
        .map_err(|error| error.code().to_owned())
}

fn texts(items: &[&str]) -> ConfigValue {
    ConfigValue::Array(items.iter().map(|&item| ConfigValue::String(item.to_owned())).collect())
}

#[test]
fn value_types() {
    for word in ["yes", "True", "Y", "1", "ON"] {
        assert_eq!(parse(&format!("flag={word}")), Ok(ConfigValue::Boolean(true)), "{word}");
    }
    for word in ["no", "False", "N", "0", "OFF"] {
        assert_eq!(parse(&format!("flag={word}")), Ok(ConfigValue::Boolean(false)), "{word}");
    }
    for (text, number) in [("1", 1.0), ("-2.5", -2.5), ("1e3", 1000.0), (".5", 0.5), ("+7", 7.0)] {
        assert_eq!(parse(&format!("number={text}")), Ok(ConfigValue::Number(number)), "{text}");
    }
    assert_eq!(parse("text= a,b = c "), Ok(ConfigValue::String(" a,b = c ".to_owned())));
    for list in ["a,b", "[a,b]", " [ a , b ] ", r#"["a","b"]"#, "a,b,", r#"[ "a", "b" ]"#] {
        assert_eq!(parse(&format!("list={list}")), Ok(texts(&["a", "b"])), "{list}");
    }
    assert_eq!(parse(r#"list=["a,b"," c "]"#), Ok(texts(&["a,b", "c"])));
    assert_eq!(
        parse("numbers=1, 2e1"),
        Ok(ConfigValue::Array(vec![ConfigValue::Number(1.0), ConfigValue::Number(20.0)]))
    );
    assert_eq!(parse("numbers="), Ok(ConfigValue::Array(Vec::new())));
}

#[test]
fn near_misses() {
    for (arg, code) in [
        ("flag=ture", "config/type"),
        ("flag=", "config/type"),
        ("flag=2", "config/type"),
        ("number=inf", "config/type"),
        ("number=NaN", "config/type"),
        ("number=1e999", "config/type"),
        ("number=0x10", "config/type"),
        ("number=", "config/type"),
        ("number", "config/type"),
        ("text=", "config/required"),
        ("list=", "config/required"),
        ("list=[]", "config/required"),
        ("list=[a,b", "config/type"),
        ("list=a,b]", "config/type"),
        (r#"list=["a"#, "config/type"),
        (r#"list=["a",["b"]]"#, "config/type"),
        ("list=abcdef,a", "config/length"),
        ("numbers=1,b", "config/type"),
        ("numbr=1", "config/unknown-key"),
    ] {
        assert_eq!(parse(arg), Err(code.to_owned()), "{arg}");
    }
    assert!(parse("list=abcde,a").is_ok());
}

#[test]
fn all_faults_are_returned_and_none_repeats_a_value() {
    let schema = Schema::from_manifest(JSON, &[]).unwrap();
    let args = ["numbr=1", "zzzzzz=1", "flag=hunter2", "number=1", "number=2"];
    let error: ConfigError = inline(&schema, args).unwrap_err();
    let found: Vec<_> = error
        .faults()
        .map(|fault| (fault.kind.code(), fault.key.as_str(), fault.did_you_mean.as_deref()))
        .collect();
    assert_eq!(
        found,
        [
            ("config/unknown-key", "numbr", Some("number")),
            ("config/unknown-key", "zzzzzz", None),
            ("config/type", "flag", None),
            ("config/duplicate", "number", None)
        ]
    );
    assert!(error.faults().all(|fault| !fault.message.contains("hunter2")));
}

proptest! {
    #[test]
    fn parsed_values_pass_their_field(text in ".{0,30}", index in 0..5_usize) {
        let schema = Schema::from_manifest(JSON, &[]).unwrap();
        let field = &schema.fields()[index];
        if let Ok(value) = field.parse(&text) {
            prop_assert!(field.check(&value).is_ok());
        }
    }
}
