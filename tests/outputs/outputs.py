"""Shortened outputs of real tools: pytest 9, jest 30, go 1.26, cargo 1.95 and others."""

JEST = """FAIL src/sum.test.js
  sum
    ✕ adds 1 + 2 (7 ms)
    ✓ is fine (1 ms)
    ○ skipped later

  ● sum › adds 1 + 2

    expect(received).toBe(expected) // Object.is equality

    Expected: 3
    Received: -1

      2 | describe('sum', () => {
    > 3 |   test('adds 1 + 2', () => { expect(sum(1, 2)).toBe(3) })
        |                                                ^

      at Object.toBe (src/sum.test.js:3:48)

FAIL src/broken.test.js
  ● Test suite failed to run

    Cannot find module './nowhere' from 'src/broken.test.js'

    > 1 | const x = require('./nowhere')
        |           ^

      at Object.require (src/broken.test.js:1:11)

PASS src/ok.test.js
  ● Console

    console.log
      hello

Test Suites: 2 failed, 1 passed, 3 total
Tests:       1 failed, 1 skipped, 2 passed, 4 total
Snapshots:   0 total
Time:        0.594 s
Ran all test suites.
"""
VITEST = """
 RUN  v4.1.12 /project

 ❯ vt/sum.spec.mjs (2 tests | 1 failed) 13ms
     × adds 10ms
     ✓ fine 0ms
 ✓ vt/ok.spec.mjs (2 tests) 3ms

⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  vt/sum.spec.mjs > sum > adds
AssertionError: expected -1 to be 3 // Object.is equality

- Expected
+ Received

- 3
+ -1

 ❯ vt/sum.spec.mjs:3:38
      3|   test('adds', () => { expect(1 - 2).toBe(3) })

 Test Files  1 failed | 1 passed (2)
      Tests  1 failed | 3 passed (4)
   Start at  18:11:18
   Duration  639ms (transform 37ms, setup 0ms, import 56ms, tests 13ms, environment 0ms)
"""
GO = """# example.com/m/bad [example.com/m/bad.test]
bad/bad_test.go:5:28: undefined: undefined1
FAIL\texample.com/m/bad [build failed]
--- FAIL: TestAdd (0.00s)
    calc_test.go:7: Add(1, 2) = -1, want 3
--- FAIL: TestTable (0.00s)
    --- FAIL: TestTable/neg (0.00s)
        calc_test.go:12: negative
            second line
FAIL
FAIL\texample.com/m/calc\t0.006s
--- FAIL: TestBoom (0.00s)
panic: assignment to entry in nil map [recovered, repanicked]

goroutine 4 [running]:
testing.tRunner.func1.2({0x6ba9f0, 0x6f2100})
\t/usr/lib/go/src/testing/testing.go:2125 +0x232
FAIL\texample.com/m/web\t0.005s
ok  \texample.com/m/fine\t(cached)
FAIL
"""
GO_VERBOSE = """=== RUN   TestAdd
    calc_test.go:7: Add(1, 2) = -1, want 3
--- FAIL: TestAdd (0.00s)
=== RUN   TestTable
=== RUN   TestTable/neg
    calc_test.go:12: negative
=== RUN   TestTable/pos_one
--- FAIL: TestTable (0.00s)
    --- FAIL: TestTable/neg (0.00s)
    --- PASS: TestTable/pos_one (0.00s)
=== RUN   TestFine
--- PASS: TestFine (0.00s)
=== RUN   TestSkip
    calc_test.go:17: later
--- SKIP: TestSkip (0.00s)
FAIL
FAIL\texample.com/m/calc\t0.003s
FAIL
"""
GO_EVENTS = r"""{"Action":"build-output","ImportPath":"m/bad","Output":"bad/bad_test.go:5:28: undefined: undefined1\n"}
{"ImportPath":"m/bad","Action":"build-fail"}
{"Action":"fail","Package":"m/bad","Elapsed":0}
{"Action":"run","Package":"example.com/m/calc","Test":"TestAdd"}
{"Action":"output","Package":"example.com/m/calc","Test":"TestAdd","Output":"=== RUN   TestAdd\n"}
{"Action":"output","Package":"example.com/m/calc","Test":"TestAdd","Output":"    calc_test.go:7: want 3\n"}
{"Action":"output","Package":"example.com/m/calc","Test":"TestAdd","Output":"--- FAIL: TestAdd (0.00s)\n"}
{"Action":"fail","Package":"example.com/m/calc","Test":"TestAdd","Elapsed":0}
{"Action":"pass","Package":"example.com/m/calc","Test":"TestFine","Elapsed":0}
{"Action":"fail","Package":"example.com/m/calc","Elapsed":0.003}
"""
CARGO = """   Compiling demo v0.1.0 (/project)
    Finished `test` profile [unoptimized + debuginfo] target(s) in 1.51s
     Running unittests src/lib.rs (target/debug/deps/demo-8348ca7a80742723)

running 4 tests
test tests::doubles ... ok
test tests::later ... ignored
test tests::result ... FAILED
test tests::adds ... FAILED

failures:

---- tests::result stdout ----
Error: "no luck"

---- tests::adds stdout ----

thread 'tests::adds' (2356) panicked at src/lib.rs:19:9:
assertion `left == right` failed: sum
  left: -1
 right: 3
stack backtrace:
   0: __rustc::rust_begin_unwind


failures:
    tests::adds
    tests::result

test result: FAILED. 1 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.12s

error: test failed, to rerun pass `--lib`
"""
RUSTC = """   Compiling demo v0.1.0 (/project)
error[E0308]: mismatched types
 --> src/main.rs:3:18
  |
3 |     let x: i32 = "s";
  |            ---   ^^^ expected `i32`, found `&str`

note: the lint level is defined here
 --> src/main.rs:1:1
  |

warning: useless use of `vec!`
 --> src/lib.rs:9:13
  |

error: could not compile `demo` (bin "demo") due to 1 previous error
"""
ESLINT = """
/project/src/sum.js
  1:34  warning  Missing semicolon                            semi
  2:5   error    'unused' is assigned a value but never used  no-unused-vars

/project/src/other.js
  7:1  error  Parsing error: Unexpected token

✖ 3 problems (2 errors, 1 warning)
"""
GCC = """a.c: In function ‘main’:
a.c:2:26: warning: initialization of ‘int’ from ‘char *’ makes integer from pointer without a cast [-Wint-conversion]
    2 | int main(void) { int x = "s"; return y; }
      |                          ^~~
a.c:2:52: error: ‘y’ undeclared (first use in this function)
a.c:2:52: note: each undeclared identifier is reported only once for each function it appears in
"""
PYRIGHT = """/project/src/a.py
  /project/src/a.py:5:12 - error: Type "int" is not assignable to return type "str"
    "int" is not assignable to "str" (reportReturnType)
1 error, 0 warnings, 0 informations
"""
TSC = (
    "\x1b[96ma.ts\x1b[0m:\x1b[93m1\x1b[0m:\x1b[93m7\x1b[0m - \x1b[91merror\x1b[0m\x1b[90m TS2322: \x1b[0mType 'string' is not.\n"
)
GO_BUILD = '# example.com/m\n./main.go:5:2: "os" imported and not used\n./main.go:11:2: undefined: undefinedCall\n'
JAVAC = "B.java:2: error: incompatible types: String cannot be converted to int\n    int f() { }\n1 error\n"
NODE = """/project/crash.js:1
function inner(o) { return o.a.b }
                               ^

TypeError: Cannot read properties of undefined (reading 'b')
    at Module.load (node:internal/modules/cjs/loader:1266:32)
    at inner (/project/crash.js:1:32)
    at Object.<anonymous> (/project/crash.js:3:1)

Node.js v20.20.2
"""
NODE_SYNTAX = """/project/crash.js:4
let x = ;
        ^

SyntaxError: Unexpected token ';'
    at wrapSafe (node:internal/modules/cjs/loader:1464:18)
"""
GO_PANIC = """panic: runtime error: index out of range [3] with length 1

goroutine 1 [running]:
runtime.gopanic(0x1)
\t/usr/lib/go/src/runtime/panic.go:859 +0x125
main.inner(...)
\t/project/main.go:5
main.main()
\t/project/main.go:8 +0x59
exit status 2
"""
RUST_PANIC = """     Running `target/debug/demo`

thread 'main' (2411) panicked at src/main.rs:3:21:
index out of bounds: the len is 0 but the index is 3
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace
"""
JAVA = """Exception in thread "main" java.lang.IllegalStateException: outer
\tat app.A.main(A.java:4)
Caused by: java.lang.ArrayIndexOutOfBoundsException: Index 3 out of bounds
\tat java.base/java.util.Arrays.get(Arrays.java:1)
\tat app.A.f(A.java:2)
\t... 1 more
"""
PIP_BUILD = """  error: subprocess-exited-with-error
  ╰─> [18 lines of output]
      Traceback (most recent call last):
        File "/project/setup.py", line 2, in <module>
          import nosuch_build
      ModuleNotFoundError: No module named 'nosuch_build'
      [end of output]
error: metadata-generation-failed
"""
GROUP = """  + Exception Group Traceback (most recent call last):
  |   File "/project/group.py", line 3, in <module>
  |     f()
  | ExceptionGroup: many (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | ValueError: one
    +------------------------------------
"""
SYNTAX = '  File "/project/syn.py", line 1\n    def f(:\n          ^\nSyntaxError: invalid syntax\n'
CONFLICT = """Auto-merging a.py
CONFLICT (content): Merge conflict in a.py
CONFLICT (modify/delete): b.py deleted in HEAD and modified in other.
Automatic merge failed; fix conflicts and then commit the result.
"""
REJECTED = """To /srv/repository.git
 ! [rejected]        main -> main (fetch first)
error: failed to push some refs to '/srv/repository.git'
"""
