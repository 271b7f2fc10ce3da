import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import settingsSchema from '../../../server/settings/settings.schema.json' with { type: 'json' };
import { type ModelsFile, readModels } from '../catalogue.ts';
import { type JsonObject, operationsOf } from '../document.ts';
import { type ErrorEntry, readErrors } from '../errors.ts';
import { errorsMarkdown } from './errors-page.ts';
import { eventPages } from './event-pages.ts';
import { type Guide, readGuides, withoutComments } from './guides.ts';
import { httpPages } from './http-pages.ts';
import { prose } from './markdown-text.ts';
import { type MenuEntry, sidebarOf } from './menu.ts';
import { operationsFor } from './model-kinds.ts';
import { modelPages } from './model-pages.ts';
import { withOperationLinks } from './operation-links.ts';
import { homeMarkdown, overviewMarkdown, referenceMarkdown } from './overview-pages.ts';
import { settingsMarkdown } from './settings-page.ts';
import { workflowsMarkdown } from './workflows.ts';

/** The sources of the pages. */
export interface DocsSources {
  openapi: JsonObject;
  asyncapi: JsonObject;
  errors: readonly ErrorEntry[];
  models: ModelsFile;
  guides: readonly Guide[];
}

/** All pages of the site: Markdown by path, and the sidebar. */
export interface SitePages {
  /** Path without ending below the root of the gateway -> Markdown with front matter. */
  pages: ReadonlyMap<string, string>;
  sidebar: readonly MenuEntry[];
}

/** Reads the sources below `root`. The bundles are those of `generated/`. */
export async function readDocsSources(root: string): Promise<DocsSources> {
  const text = (name: string) => readFile(join(root, name), 'utf8');
  const bundle = async (name: string) => JSON.parse(await text(`generated/${name}.json`)) as JsonObject;
  return {
    openapi: await bundle('openapi'),
    asyncapi: await bundle('asyncapi'),
    errors: readErrors(await text('openapi/errors.yaml')),
    models: readModels(await text('openapi/models.yaml')),
    guides: await readGuides(root),
  };
}

/** Renders all pages as Markdown. */
export async function renderPages(root: string, sources: DocsSources): Promise<SitePages> {
  const { openapi, asyncapi, errors, models, guides } = sources;
  const optional = (name: string) => readFile(join(root, name), 'utf8').catch(() => undefined);
  const [decisions, changelog, dates] = await Promise.all([
    optional('generated/decisions.md'),
    optional('CHANGELOG.md'),
    editDates(root),
  ]);
  const pages = new Map<string, string>([
    ['docs/reference', referenceMarkdown(openapi)],
    ['docs/workflows', await workflowsMarkdown(root, openapi)],
    ['docs/errors', errorsMarkdown(errors)],
    ['docs/settings', settingsMarkdown(settingsSchema as unknown as JsonObject)],
    ...httpPages(openapi, errors),
    ...eventPages(asyncapi),
  ]);
  for (const { name, file, markdown } of guides)
    pages.set(`docs/${name}`, dated(withOperationLinks(withoutComments(markdown), openapi), dates.get(file)));
  if (decisions !== undefined) pages.set('docs/decisions', prose(withoutComments(decisions)));
  if (changelog !== undefined)
    pages.set('docs/changelog', dated(prose(withSiteLinks(changelog)), dates.get('CHANGELOG.md')));
  const sidebar = sidebarOf(guides, {
    Contract: [
      { text: 'Workflows', link: '/docs/workflows' },
      { text: 'Design decisions', link: '/docs/decisions' },
    ],
    Reference: [
      { text: 'API reference', link: '/docs/reference' },
      {
        text: 'HTTP operations',
        link: '/docs/http/',
        collapsed: true,
        items: entriesBelow(pages, 'docs/http/'),
      },
      { text: 'Events', link: '/docs/events/', collapsed: true, items: entriesBelow(pages, 'docs/events/') },
      { text: 'Models', link: '/docs/models/' },
      { text: 'Errors', link: '/docs/errors' },
      { text: 'Settings', link: '/docs/settings' },
      { text: 'Changelog', link: '/docs/changelog' },
    ],
  });
  for (const [path, markdown] of modelPages({ models: callableModels(models, openapi), openapi, asyncapi }))
    pages.set(`docs/${path}`, markdown);
  pages.set('index', homeMarkdown);
  pages.set('docs/index', overviewMarkdown(guides));
  return { pages, sidebar };
}

/** Returns the models whose operations the contract has, because a contract in preparation may lack some. */
function callableModels(file: ModelsFile, openapi: JsonObject): ModelsFile {
  const ids = new Set(operationsOf(openapi).map(({ id }) => id));
  return { ...file, models: file.models.filter((model) => operationsFor(model).every((id) => ids.has(id))) };
}

/** Returns an entry of the menu for each page of a folder, with its first heading. */
function entriesBelow(pages: ReadonlyMap<string, string>, folder: string): MenuEntry[] {
  return [...pages]
    .filter(([path]) => path.startsWith(folder) && path !== `${folder}index`)
    .map(([path, markdown]) => ({ text: /^# (.+)$/m.exec(markdown)?.[1] ?? path, link: `/${path}` }));
}

/** Turns links to files of the repository into links to their pages, or into text if they have none. */
const withSiteLinks = (markdown: string) =>
  markdown
    .replace(/\]\((?:openapi\/guides\/\d+-|generated\/)([\w-]+)\.md(#[\w-]+)?\)/g, '](/docs/$1$2)')
    .replace(/\[([^\]]+)\]\((?!\/|https?:|#)[^)]+\)/g, '$1');

/** Adds the date of the last edit to the front matter. */
function dated(markdown: string, date: string | undefined): string {
  if (date === undefined) return markdown;
  return markdown.startsWith('---\n')
    ? markdown.replace('---\n', `---\nlastUpdated: ${date}\n`)
    : `---\nlastUpdated: ${date}\n---\n\n${markdown}`;
}

/** Returns the date of the last commit of each guide and of the changelog. Empty without git. */
async function editDates(root: string): Promise<ReadonlyMap<string, string>> {
  const args = ['log', '--format=@%cI', '--name-only', '--', 'openapi/guides', 'CHANGELOG.md'];
  const log = await promisify(execFile)('git', args, { cwd: root }).catch(() => ({ stdout: '' }));
  const dates = new Map<string, string>();
  let date = '';
  for (const line of log.stdout.split('\n')) {
    if (line.startsWith('@')) date = line.slice(1);
    else if (line !== '' && !dates.has(line)) dates.set(line, date);
  }
  return dates;
}
