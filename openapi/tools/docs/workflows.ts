import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type JsonObject, operationsOf } from '../document.ts';
import { readYaml } from '../problem.ts';
import { escaped } from './page.ts';

/** The parts of an Arazzo document that a page shows. */
interface Workflow {
  file: string;
  info: { title: string; summary: string };
  workflows: { steps: { description: string; operationId: string }[] }[];
}

/** Renders the workflows of openapi/workflows as a page. `openapi` is the bundle that they refer to. */
export async function workflowsBody(root: string, openapi: JsonObject): Promise<string> {
  const folder = join(root, 'openapi/workflows');
  const files = (await readdir(folder).catch(() => []))
    .filter((file) => file.endsWith('.arazzo.yaml'))
    .sort();
  const found = await Promise.all(
    files.map(async (file) => workflowOf(file, await readFile(join(folder, file), 'utf8'))),
  );
  const calls = new Map(
    operationsOf(openapi).map(({ id, method, path }) => [id, `${method.toUpperCase()} ${path}`] as const),
  );
  return `<h1>Workflows</h1>
<p>The main sequences of calls, as <a href="https://spec.openapis.org/arazzo/latest.html">Arazzo</a> documents. A runner sends
each step to a gateway and checks the responses.</p>
<pre tabindex="0" aria-label="Shell"><code>npx redocly respect openapi/workflows/video.arazzo.yaml --severity SCHEMA_CHECK=off \\
  --server gateway=$UNIGATE_BASE_URL --input key=$UNIGATE_API_KEY --input name=boat-1</code></pre>
${found.map((one) => described(one, calls)).join('\n')}`;
}

function workflowOf(file: string, text: string): Workflow {
  const document = readYaml(`openapi/workflows/${file}`, text) as Omit<Workflow, 'file'>;
  return { ...document, file };
}

function described({ file, info, workflows }: Workflow, calls: ReadonlyMap<string, string>): string {
  const steps = workflows
    .flatMap((workflow) => workflow.steps)
    .map(({ operationId, description }) => {
      const id = operationId.split('.').at(-1) ?? '';
      const call = calls.get(id) ?? 'your receiver';
      return `<li><code>${escaped(call)}</code>: ${escaped(description)}</li>`;
    });
  return `<section aria-labelledby="${file}">
<h2 id="${file}">${escaped(info.title)}</h2>
<p>${escaped(info.summary)} <code>openapi/workflows/${file}</code></p>
<ol>
${steps.join('\n')}
</ol>
</section>`;
}
