//! Names of the host that a file declares itself: no danger if that is certain, a finding otherwise.

use plugward_scanner::Profile;

use crate::common::check;

/// A rule that has to be met, or `-` where nothing is a danger, the file's name and its text.
type Case = (&'static str, &'static str, &'static str);

/// The file's own.
const CERTAIN: &[Case] = &[
    ("-", "a.mjs", "import {setTimeout} from 'timers/promises';await setTimeout('x')"),
    ("-", "a.mjs", "const process={binding(x){return x}};process.binding('fs')"),
    ("-", "a.mjs", "import process from './proc.js';process.binding('fs')"),
    ("-", "a.cjs", "const Deno={run(){}};Deno.run()"),
    ("-", "a.js", r#"class Function{};new Function("x")"#),
    ("-", "a.js", "class Function{constructor(a){}}\nnew Function(\"x\")"),
    ("-", "a.js", r#"function f(){class Function{} new Function("x")}"#),
    ("-", "a.js", r#"let process={};process.binding("x")"#),
    ("-", "a.js", "function setTimeout(a){}\nsetTimeout(\"x\")"),
    ("-", "a.js", r#"function f(process){process.binding("x")}"#),
    ("-", "a.js", r#"const f=process=>process.binding("x")"#),
    ("-", "a.js", r#"const f=(process)=>process.binding("x")"#),
    ("-", "a.js", r#"const f=({process})=>process.binding("x")"#),
    ("-", "a.js", r#"const f=([process])=>process.binding("x")"#),
    ("-", "a.js", r#"const f=(...process)=>process.binding("x")"#),
    ("-", "a.js", r#"const f=(a,process=1)=>process.binding("x")"#),
    ("-", "a.js", r#"const f=({a:process})=>process.binding("x")"#),
    ("-", "a.js", r#"const f=({a:{process}})=>process.binding("x")"#),
    ("-", "a.js", r#"o={m(process){process.binding("x")}}"#),
    ("-", "a.js", r#"class A{m(process){process.binding("x")}}"#),
    ("-", "a.js", r#"class A{set m(process){process.binding("x")}}"#),
    ("-", "a.js", r#"class A{constructor(process){process.binding("x")}}"#),
    ("-", "a.js", r#"try{}catch(process){process.binding("x")}"#),
    ("-", "a.js", r#"try{}catch({process}){process.binding("x")}"#),
    ("-", "a.js", r#"for(const process of a){process.binding("x")}"#),
    ("-", "a.js", r#"for(let process=0;;){process.binding("x")}"#),
    ("-", "a.js", r#"for(const process in a)process.binding("x")"#),
    ("-", "a.js", r#"for(const process of a)process.binding("x")"#),
    ("-", "a.js", r#"for(const [k,process] of a){process.binding("x")}"#),
    ("-", "a.js", r#"for await(const process of a){process.binding("x")}"#),
    ("-", "a.js", r#"(async process=>process.binding("x"))"#),
    ("-", "a.js", r#"(async(process)=>{await process.binding("x")})"#),
    ("-", "a.js", r#"function*f(process){yield process.binding("x")}"#),
    ("-", "a.js", r#"{let process=1;process.binding("x")}"#),
    ("-", "a.js", r#"{const process=ui;process.binding("x")}"#),
    ("-", "a.js", r#"if(a){const {process}=ui;process.binding("x")}"#),
    ("-", "a.js", r#"switch(a){case 1:let process=ui;process.binding("x")}"#),
    ("-", "a.js", r#"function f(){var process=ui;process.binding("x")}"#),
    ("-", "a.js", r#"function f(){process.binding("x");function process(){}}"#),
    ("-", "a.js", r#"function f(){process.binding("x");var process=ui}"#),
    ("-", "a.mjs", r#"import * as process from './p.js';process.binding("x")"#),
    ("-", "a.mjs", r#"import {process} from './p.js';process.binding("x")"#),
    ("-", "a.mjs", r#"import {p as process} from './p.js';process.binding("x")"#),
    ("-", "a.mjs", r#"import a,{process} from './p.js';process.binding("x")"#),
    ("-", "a.mjs", r#"import Function from './f.js';new Function("x")"#),
    ("-", "a.js", r#"const {process}=ui;process.binding("x")"#),
    ("-", "a.js", r#"const [process]=ui;process.binding("x")"#),
    ("-", "a.js", r#"const {a:process=1}=ui;process.binding("x")"#),
    ("-", "a.js", r#"let a=1,process=ui;process.binding("x")"#),
    ("-", "a.js", r#"class process{static binding(){}} process.binding("x")"#),
    ("-", "a.js", r#"const x=class process{static m(){process.binding("x")}}"#),
    ("-", "a.js", r#"const x=function process(){process.binding("x")}"#),
    ("-", "a.ts", r#"enum process{binding} process.binding("x")"#),
    ("-", "a.ts", "declare const process:any"),
    ("-", "a.ts", "declare function eval(x:string):any;"),
    ("-", "a.ts", r#"interface A{eval(x:string):void;exec(x:string):void;setTimeout(a:"x"):void}"#),
    ("-", "a.ts", "interface A{new(x:string):Function;(x:string):Function}"),
    ("-", "a.ts", "type A={eval(x:string):void;Function(x:string):void}"),
    ("-", "a.ts", "declare namespace N{function eval(x:string):void;class Function{}}"),
    ("-", "a.ts", "abstract class A{abstract eval(x:string):void;abstract exec(x:string):void}"),
    ("-", "a.ts", "class A{eval(x:string):void;eval(x:number):void;eval(x:any){}}"),
    ("-", "a.ts", "function f(x:typeof eval):typeof Function{}"),
    ("-", "a.ts", "let f:Function=x as Function"),
    ("-", "a.ts", "let f:(eval:string)=>Function"),
    ("-", "a.ts", r#"export type{exec} from "child_process""#),
    ("-", "a.ts", r#"import type{exec} from "child_process""#),
    ("-", "a.ts", r#"import type cp from "child_process""#),
    ("-", "a.ts", r#"import{type exec} from "./child.js""#),
    ("-", "a.ts", r#"let x:import("child_process").ChildProcess"#),
    (
        "-",
        "a.d.ts",
        "declare function eval(x:string):any;\ndeclare function setTimeout(handler:\"x\"):number;",
    ),
    ("-", "a.d.ts", "declare var process:{binding(x:string):any};"),
    ("-", "a.d.ts", "export declare class Function{constructor(...args:string[]);}"),
    ("-", "a.d.ts", "export default function eval(x:string):void;"),
    ("-", "a.d.ts", "interface Window{eval(x:string):any;execScript(code:string):any}"),
    ("-", "a.d.ts", r#"declare module "child_process"{export function exec(command:string):void}"#),
    ("-", "a.d.ts", "declare global{function eval(x:string):any;var process:any}"),
    ("-", "a.d.ts", "export function require(id:string):any;"),
    ("-", "a.d.ts", "declare const require:{(id:string):any;resolve(id:string):string};"),
    ("-", "a.js", "({eval(){}})"),
    ("-", "a.js", "({eval:1,Function:2,process:3})"),
    ("-", "a.js", r#"({"eval":f,'Function':g})"#),
    ("-", "a.js", "({get eval(){return 1}})"),
    ("-", "a.js", "({async eval(){}})"),
    ("-", "a.js", "({*eval(){}})"),
    ("-", "a.js", "({async*eval(){}})"),
    ("-", "a.js", "class A{eval(){} static eval(){} get Function(){return 1} async setTimeout(a){}}"),
    ("-", "a.js", r#"class A{exec(){}} new A().exec("ls")"#),
    ("-", "a.js", r#"db.exec("ls")"#),
    ("-", "a.js", r#"/a/.exec("ls")"#),
    ("-", "a.js", r#"const r=/a/;r.exec("ls")"#),
    ("-", "a.js", "eval:for(;;){break eval}"),
    ("-", "a.js", "Function:while(1){continue Function}"),
    ("-", "a.js", "process:{break process}"),
    ("-", "a.js", r#"x.Function("y")"#),
    ("-", "a.js", r#"x.setTimeout("y")"#),
    ("-", "a.js", "x instanceof Function"),
    ("-", "a.js", "Function.prototype.call.apply(f,a)"),
    ("-", "a.js", r#"function execRule(exec){exec("ls")}"#),
    ("-", "a.js", r#"const exec=x=>x;exec("ls")"#),
    ("-", "a.js", r#"const {exec}=ui;exec("ls")"#),
    ("-", "a.js", r#"import {exec} from './tools.js';exec("ls")"#),
    ("-", "a.js", r#"let require=x=>x;require("child_process2")"#),
    ("-", "a.js", "function f(require){require(x)}"),
    ("-", "a.js", r#"define(function(require){require("./a")})"#),
    ("-", "a.ts", "function f(this:Function,x:string){}"),
    ("-", "a.ts", r#"class A{constructor(private process:Proc){process.binding("x")}}"#),
    ("-", "a.ts", r#"const f=(process:Proc):void=>{process.binding("x")}"#),
    ("-", "a.ts", r#"const f=<T,>(process:T)=>process.binding("x")"#),
    ("-", "a.ts", r#"function f<T extends Map<string,number>>(process:Map<string,T>){process.binding("x")}"#),
    ("-", "a.ts", r#"import process=require("./p");process.binding("x")"#),
    ("-", "a.js", r#"function f(a=process.binding("x"),process){}"#),
];

/// They may be the host's.
const UNSURE: &[Case] = &[
    ("native/process-binding", "a.js", r#"{const process=ui} process.binding("x")"#),
    ("native/process-binding", "a.js", r#"(function(){const process=ui})();process.binding("x")"#),
    ("native/process-binding", "a.js", r#"let q=1;{let process=2}process.binding("x")"#),
    ("native/process-binding", "a.ts", r#"declare const process:any;process.binding("x")"#),
    ("native/process-binding", "a.ts", r#"import type process from "./p";process.binding("x")"#),
    ("native/process-binding", "a.ts", r#"import {type process} from "./p";process.binding("x")"#),
    ("native/process-binding", "a.ts", r#"namespace process{type A=1} process.binding("x")"#),
    ("native/process-binding", "a.ts", r#"interface process{} process.binding("x")"#),
    ("native/process-binding", "a.ts", r#"type process=1;process.binding("x")"#),
    ("native/process-binding", "a.js", r#"const process=globalThis.process;process.binding("x")"#),
    ("native/process-binding", "a.js", r#"const process=require("process");process.binding("x")"#),
    ("native/process-binding", "a.mjs", r#"import process from "node:process";process.binding("x")"#),
    ("native/process-binding", "a.mjs", r#"import * as process from "process";process.binding("x")"#),
    ("native/process-binding", "a.js", r#"let process={};process=globalThis.process;process.binding("x")"#),
    ("native/process-binding", "a.js", r#"const {process}=globalThis;process.binding("x")"#),
    ("native/process-binding", "a.js", r#"const process={};globalThis.process.binding("x")"#),
    (
        "native/process-binding",
        "a.js",
        r#"for(const process of process.binding("x")){} process.binding("y")"#,
    ),
    ("native/process-binding", "a.js", r#"class process{} {process.binding}globalThis.process.binding("x")"#),
    ("native/process-binding", "a.js", r#"export {process} from './p.js';process.binding("x")"#),
    ("native/process-binding", "a.js", r#"import {process as q} from './p.js';process.binding("x")"#),
    ("native/process-binding", "a.js", r#"const x={process:1};process.binding("x")"#),
    ("native/process-binding", "a.js", r#"const {process:q}=ui;process.binding("x")"#),
    ("native/process-binding", "a.js", r#"const q=({process})=>1;process.binding("x")"#),
    ("native/process-binding", "a.js", r#"const x=class process{};process.binding("x")"#),
    ("native/process-binding", "a.js", r#"const x=function process(){};process.binding("x")"#),
    ("exec/eval", "a.js", r#"const a=1,eval2=2;eval("x")"#),
    ("exec/string-timer", "a.mjs", "import {setTimeout as s} from 'timers/promises';setTimeout('x')"),
    ("exec/string-timer", "a.mjs", "import {setTimeout} from 'timers';setTimeout('x')"),
    ("exec/function-constructor", "a.js", r#"new Function("x");{class Function{}}"#),
];

#[test]
fn a_name_that_is_certainly_the_files_own_is_no_danger() {
    let mut wrong = Vec::new();
    for (rule, path, text) in [CERTAIN, UNSURE].concat() {
        let found = check(Profile::StrictPlugin, path, text);
        let met = if rule == "-" {
            // A load of any module is a danger in this profile.
            !found.iter().any(|line| line.contains(" danger ") && !line.contains("load/"))
        } else {
            found.iter().any(|line| line.contains(rule))
        };
        if !met {
            wrong.push(format!("{rule} {path} {text}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn declarations_of_any_number_are_known() {
    let mut many = String::new();
    for at in 0..2000 {
        many.push_str(&"function f@() { const fetch = @; fetch('x') }\n".replace('@', &at.to_string()));
    }
    let found = check(Profile::StrictPlugin, "a.js", &many);
    assert!(found.is_empty(), "{:?}", found.first());
    let found = check(Profile::StrictPlugin, "a.js", &format!("{many}fetch('x')"));
    assert_eq!(found, ["2001:1 warning net/fetch"]);
}
