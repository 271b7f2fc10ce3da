import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createLoop, type Verdict } from './loop.ts';
import { openPreview } from './preview.ts';
import { restLines, verdictLines } from './report.ts';
import { watchFiles } from './watch.ts';

const usage = `npm run dev -- [--port 8090] [--once]

Watches openapi/ and asyncapi/, and the code. Each save lints and bundles the contract, writes generated/, checks the
types and reloads the documentation in the browser. It prints what has changed and what broke, with file and line.

  --port  where the documentation is shown, on this machine alone: 0 to 65535, 0 for any that is free; default 8090
  --once  checks everything once and ends, with 1 when something is broken`;

const started = performance.now();
const folders = ['openapi', 'asyncapi', 'server', 'client', 'test'];

try {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '8090' },
      once: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
      root: { type: 'string' },
    },
  });
  const root = values.root ?? fileURLToPath(new URL('../..', import.meta.url));
  if (values.help) console.log(usage);
  else if (values.once) process.exitCode = await once(root);
  else await watching(root, portOf(values.port));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}

function portOf(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new Error(`--port is ${text}: it must be from 0 to 65535`);
  return port;
}

async function once(root: string): Promise<number> {
  const begun = performance.now();
  const loop = await createLoop(root);
  try {
    const verdict = await loop.run([], () => false);
    const rest = await loop.rest(new AbortController().signal);
    if (verdict === undefined) return 1;
    const problems = [...verdict.problems, ...rest.problems];
    say(
      verdictLines(
        { ...verdict, problems, checked: verdict.checked + rest.checked },
        performance.now() - begun,
        'after the start',
      ),
    );
    return problems.length === 0 ? 0 : 1;
  } finally {
    await loop.close();
  }
}

async function watching(root: string, port: number): Promise<void> {
  const loop = await createLoop(root);
  const preview = await openPreview(port, join(root, 'generated')).catch(
    async (error: NodeJS.ErrnoException) => {
      await loop.close();
      throw error.code === 'EADDRINUSE' ? new Error(`--port ${port} is taken: name another, or 0`) : error;
    },
  );
  const watch = watchFiles(root, folders);
  const stop = () => {
    watch.close();
    preview.close();
    void loop.close().finally(() => process.exit(0));
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  console.log(`documentation on ${preview.address}, which loads again by itself; Ctrl-C ends`);

  const saved = new Set<string>();
  let at = started;
  for (;;) {
    const verdict: Verdict | undefined = await loop.run([...saved], () => watch.pending);
    const interrupted = new AbortController();
    const next = watch.next();
    // What was saved while a run was under way is carried through together with what that run had.
    if (verdict !== undefined) {
      say([
        ...(saved.size > 0 ? [`\nsaved ${[...saved].join(', ')}`] : []),
        ...verdictLines(
          verdict,
          performance.now() - at,
          saved.size > 0 ? 'after the save' : 'after the start',
        ),
      ]);
      if (verdict.written.length > 0) preview.reload();
      saved.clear();
      void next.then(() => interrupted.abort());
      const rest = await loop.rest(interrupted.signal);
      if (!interrupted.signal.aborted) say(restLines(rest, performance.now() - at));
    }
    const more = await next;
    at = more.at;
    for (const path of more.paths) saved.add(path);
  }
}

function say(lines: readonly string[]): void {
  for (const line of lines) console.log(line);
}
