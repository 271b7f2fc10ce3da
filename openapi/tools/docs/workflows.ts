import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type JsonObject, operationsOf } from '../document.ts';
import { readYaml } from '../problem.ts';
import { prose } from './markdown-text.ts';

/** The parts of an Arazzo document that a page shows. */
interface Workflow {
  file: string;
  info: { title: string; summary: string };
  workflows: { steps: { description: string; operationId: string }[] }[];
}

/** Returns the workflows of openapi/workflows as Markdown. `openapi` is the bundle that they refer to. */
export async function workflowsMarkdown(root: string, openapi: JsonObject): Promise<string> {
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
  return `# Workflows

The main sequences of calls, as [Arazzo](https://spec.openapis.org/arazzo/latest.html) documents. A runner sends each
step to a gateway and checks the responses.

\`\`\`sh
npx redocly respect openapi/workflows/video.arazzo.yaml --severity SCHEMA_CHECK=off \\
  --server gateway=$UNIGATE_BASE_URL --input key=$UNIGATE_API_KEY --input name=boat-1
\`\`\`

${found.map((one) => described(one, calls)).join('\n\n')}
`;
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
      const call = calls.get(id);
      const link = call === undefined ? 'Your receiver' : `[\`${call}\`](/docs/reference#operation/${id})`;
      return `1. ${link}: ${prose(description)}`;
    });
  return `## ${prose(info.title)}\n\n${prose(info.summary)} \`openapi/workflows/${file}\`\n\n${steps.join('\n')}`;
}
