import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../document.ts';
import type { ErrorEntry } from '../errors.ts';
import { errorsBody } from './errors-page.ts';
import { html, readGuides } from './guides.ts';
import { type PageEntry, page } from './page.ts';
import { workflowsBody } from './workflows.ts';

const reference = { file: 'reference.html', title: 'Reference' };
const journeysEntry = { file: 'journeys.html', title: 'Journeys' };
const errorsEntry = { file: 'errors.html', title: 'Errors' };
const decisionsEntry = { file: 'decisions.html', title: 'Decisions' };

/**
 * The files of generated/docs, name -> text: everything of the site but the contract's two documents and the script
 * that renders them, which a gateway, or `npm run docs`, puts beside them.
 */
export async function docsSite(
  root: string,
  { openapi, errors, decisions }: { openapi: JsonObject; errors: readonly ErrorEntry[]; decisions: string },
): Promise<Map<string, string>> {
  const guides = (await readGuides(root)).map((guide) => ({ ...guide, file: `${guide.name}.html` }));
  const first: PageEntry = { file: 'index.html', title: 'Start' };
  const menu = [first, reference, ...guides, journeysEntry, errorsEntry, decisionsEntry];
  const own = (name: string) => readFile(join(import.meta.dirname, name), 'utf8');
  return new Map([
    ['index.html', page(first, indexBody(guides, ''), { menu })],
    // Its address has no slash at the end, so its links begin at the root.
    ['docs.html', page(first, indexBody(guides, '/docs/'), { menu, folder: '/docs/' })],
    ['home.html', page({ file: 'home.html', title: 'Welcome' }, homeBody(), { menu, folder: 'docs/' })],
    [reference.file, page(reference, referenceBody, { menu, wide: true })],
    ...guides.map((guide) => [guide.file, page(guide, html(guide.markdown), { menu })] as const),
    [journeysEntry.file, page(journeysEntry, await workflowsBody(root, openapi), { menu })],
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
<p>This is the base address of a gateway to speech, video, music, 3D, pictures, vectors and conversations. Programs call
it with one key; here is what people can read.</p>
${firstCall}
<ul>
<li><a href="docs/index.html">The documentation</a></li>
<li><a href="docs/reference.html">The reference</a>, which can send requests</li>
<li><a href="openapi.json">openapi.json</a> and <a href="asyncapi.json">asyncapi.json</a></li>
</ul>`;

const indexBody = (
  guides: readonly { file: string; title: string; markdown: string }[],
  folder: string,
) => `<h1>Unigate</h1>
<p>One base address and one key in front of speech, video, music, 3D, pictures, vectors and conversations.</p>
<ul>
<li><a href="${folder}${reference.file}">Reference</a>: every path and every event, with requests that can be sent from the page.</li>
${guides.map(({ file, title, markdown }) => `<li><a href="${folder}${file}">${title}</a>: ${leadOf(markdown)}</li>`).join('\n')}
<li><a href="${folder}${journeysEntry.file}">Journeys</a>: the main ways through the contract, for people and machines.</li>
<li><a href="${folder}${errorsEntry.file}">Errors</a>: when each code occurs and what to do about it.</li>
<li><a href="${folder}${decisionsEntry.file}">Decisions</a>: what was chosen where the interface leaves a place open.</li>
</ul>
<h2>The contract as files</h2>
<ul>
<li><a href="${folder}openapi.json">openapi.json</a>: OpenAPI 3.1, every path</li>
<li><a href="${folder}asyncapi.json">asyncapi.json</a>: AsyncAPI 3.0, every event of the sockets and streams</li>
</ul>`;

/** The first paragraph below the title, in one line. */
function leadOf(markdown: string): string {
  const lead = markdown.split(/\n\s*\n/).find((part) => !part.startsWith('#') && !part.startsWith('<!--'));
  return html(lead ?? '')
    .replace(/^<p>|<\/p>\n?$/g, '')
    .replaceAll('\n', ' ');
}

const referenceBody = `<div id="reference"><p>The reference is being drawn. It needs JavaScript; without it, read
<a href="openapi.json">openapi.json</a> and <a href="asyncapi.json">asyncapi.json</a>.</p></div>
<script src="scalar.js"></script>
<script src="reference.js"></script>`;
