import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createLoop, type RunResult } from './loop.ts';
import { openPreview, type Preview } from './preview.ts';
import { restLines, resultLines } from './report.ts';
import { watchFiles } from './watch.ts';

const usage = `npm run dev -- [--port 8090] [--once]

Watches openapi/, asyncapi/ and the code. Each save lints and bundles the contract, writes generated/, checks the types
and reloads the documentation in the browser. The output lists changes, and problems with file and line, and states
whether the contract breaks clients of the last release.

  --port  port of the documentation on localhost: 0 to 65535, 0 for any free port; default 8090
  --once  checks everything once and exits, with 1 if there are problems`;

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
  else if (values.once) process.exitCode = await runOnce(root);
  else await watchAndRun(root, portOf(values.port));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}

function portOf(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new Error(`--port must be from 0 to 65535, not ${text}`);
  return port;
}

async function runOnce(root: string): Promise<number> {
  const begun = performance.now();
  const loop = await createLoop(root);
  try {
    const result = await loop.run([], () => false);
    const rest = await loop.checkRest(new AbortController().signal);
    if (result === undefined) return 1;
    const problems = [...result.problems, ...rest.problems];
    print(
      resultLines(
        { ...result, problems, checked: result.checked + rest.checked },
        performance.now() - begun,
        'after the start',
      ),
    );
    return problems.length === 0 ? 0 : 1;
  } finally {
    await loop.close();
  }
}

async function watchAndRun(root: string, port: number): Promise<void> {
  const loop = await createLoop(root);
  const watch = watchFiles(root, folders);
  let preview: Preview | undefined;
  const stop = () => {
    watch.close();
    void Promise.allSettled([preview?.close(), loop.close()]).then(() => process.exit(0));
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);

  const saved = new Set<string>();
  let at = started;
  for (;;) {
    const result: RunResult | undefined = await loop.run([...saved], () => watch.pending);
    const interrupted = new AbortController();
    const next = watch.next();
    // A superseded run keeps its files in `saved`, so that the next run includes them.
    if (result !== undefined) {
      print([
        ...(saved.size > 0 ? [`\nsaved ${[...saved].join(', ')}`] : []),
        ...resultLines(result, performance.now() - at, saved.size > 0 ? 'after the save' : 'after the start'),
      ]);
      saved.clear();
      void next.then(() => interrupted.abort());
      // After the first run, which writes the documents that the pages show.
      if (preview === undefined) {
        preview = await openPreview(port, root).catch(async (error: NodeJS.ErrnoException) => {
          await loop.close();
          throw error.code === 'EADDRINUSE'
            ? new Error(`--port ${port} is in use. Specify another port, or 0.`)
            : error;
        });
        console.log(`documentation on ${preview.address}, reloaded after each save; stop with Ctrl-C`);
      } else await preview.update();
      // The next save does not wait for the comparison.
      void loop.checkCompatibility(interrupted.signal).then(print);
      const rest = await loop.checkRest(interrupted.signal);
      if (!interrupted.signal.aborted) print(restLines(rest, performance.now() - at));
    }
    const more = await next;
    at = more.at;
    for (const path of more.paths) saved.add(path);
  }
}

function print(lines: readonly string[]): void {
  for (const line of lines) console.log(line);
}
