import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../document.ts';
import type { ErrorEntry } from '../errors.ts';
import { errorsBody } from './errors-page.ts';
import { html, readGuides } from './guides.ts';
import { type PageEntry, page } from './page.ts';
import { workflowsBody } from './workflows.ts';

const reference = { file: 'reference.html', title: 'API reference' };
const workflowsEntry = { file: 'workflows.html', title: 'Workflows' };
const errorsEntry = { file: 'errors.html', title: 'Errors' };
const decisionsEntry = { file: 'decisions.html', title: 'Design decisions' };

/**
 * Returns the files of generated/docs as a map of name to text. The gateway or `npm run docs` adds the contract's two
 * documents and the script that renders them.
 */
export async function docsSite(
  root: string,
  { openapi, errors, decisions }: { openapi: JsonObject; errors: readonly ErrorEntry[]; decisions: string },
): Promise<Map<string, string>> {
  const guides = (await readGuides(root)).map((guide) => ({ ...guide, file: `${guide.name}.html` }));
  const home: PageEntry = { file: 'index.html', title: 'Overview' };
  const menu = [home, reference, ...guides, workflowsEntry, errorsEntry, decisionsEntry];
  const own = (name: string) => readFile(join(import.meta.dirname, name), 'utf8');
  return new Map([
    ['index.html', page(home, indexBody(guides, ''), { menu })],
    // The address has no trailing slash, so its links are absolute.
    ['docs.html', page(home, indexBody(guides, '/docs/'), { menu, folder: '/docs/' })],
    ['home.html', page({ file: 'home.html', title: 'Welcome' }, homeBody(), { menu, folder: 'docs/' })],
    [reference.file, page(reference, referenceBody, { menu, wide: true })],
    ...guides.map((guide) => [guide.file, page(guide, html(guide.markdown), { menu })] as const),
    [workflowsEntry.file, page(workflowsEntry, await workflowsBody(root, openapi), { menu })],
    [errorsEntry.file, page(errorsEntry, errorsBody(errors), { menu })],
    [decisionsEntry.file, page(decisionsEntry, html(decisions), { menu })],
    ['site.css', await own('site.css')],
    ['reference.js', await own('reference.js')],
  ]);
}

const firstCall = `<pre tabindex="0" aria-label="Shell"><code>curl http://127.0.0.1:8080/v1/audio/speech \\
  -H "Authorization: Bearer $UNIGATE_API_KEY" -H 'Content-Type: application/json' \\
  -d '{"model": "alpha3-tts-flash", "voice": "Aria", "input": "Good morning."}' -o morning.wav</code></pre>`;

const homeBody = () => `<h1>Unigate</h1>
<p>This is the base address of a gateway to speech, video, music, 3D, images, embeddings and messages. Programs call it with
one API key.</p>
${firstCall}
<ul>
<li><a href="docs/index.html">Documentation</a></li>
<li><a href="docs/reference.html">API reference</a>, which can send requests</li>
<li><a href="openapi.json">openapi.json</a> and <a href="asyncapi.json">asyncapi.json</a></li>
</ul>`;

const indexBody = (
  guides: readonly { file: string; title: string; markdown: string }[],
  folder: string,
) => `<h1>Unigate</h1>
<p>One base address and one API key in front of speech, video, music, 3D, images, embeddings and messages.</p>
<ul>
<li><a href="${folder}${reference.file}">API reference</a>: every path and every event. You can send requests from the page.</li>
${guides.map(({ file, title, markdown }) => `<li><a href="${folder}${file}">${title}</a>: ${leadOf(markdown)}</li>`).join('\n')}
<li><a href="${folder}${workflowsEntry.file}">Workflows</a>: the main sequences of calls, as Arazzo documents.</li>
<li><a href="${folder}${errorsEntry.file}">Errors</a>: when each code occurs and how to handle it.</li>
<li><a href="${folder}${decisionsEntry.file}">Design decisions</a>: our choice for each point that the interface leaves open.</li>
</ul>
<h2>Contract files</h2>
<ul>
<li><a href="${folder}openapi.json">openapi.json</a>: OpenAPI 3.1, every path</li>
<li><a href="${folder}asyncapi.json">asyncapi.json</a>: AsyncAPI 3.0, every event of the WebSockets and streams</li>
</ul>`;

/** Returns the first paragraph below the title, in one line. */
function leadOf(markdown: string): string {
  const lead = markdown.split(/\n\s*\n/).find((part) => !part.startsWith('#') && !part.startsWith('<!--'));
  return html(lead ?? '')
    .replace(/^<p>|<\/p>\n?$/g, '')
    .replaceAll('\n', ' ');
}

const referenceBody = `<div id="reference"><p>The reference is loading. It requires JavaScript. Without it, read
<a href="openapi.json">openapi.json</a> and <a href="asyncapi.json">asyncapi.json</a>.</p></div>
<script src="scalar.js"></script>
<script src="reference.js"></script>`;
