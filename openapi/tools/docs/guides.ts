import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Marked } from 'marked';
import { escaped } from './page.ts';

/** A guide of openapi/guides: `<position in the menu>-<name>.md`. The first heading is its title. */
export interface Guide {
  name: string;
  title: string;
  markdown: string;
}

/** Reads the guides, in the order of the menu. */
export async function readGuides(root: string): Promise<Guide[]> {
  const folder = join(root, 'openapi/guides');
  const found = (await readdir(folder).catch(() => [])).filter((file) => file.endsWith('.md'));
  const files = found.sort((one, other) => Number.parseInt(one, 10) - Number.parseInt(other, 10));
  return Promise.all(
    files.map(async (file) => {
      const markdown = await readFile(join(folder, file), 'utf8');
      const title = /^# (.+)$/m.exec(markdown)?.[1];
      if (title === undefined) throw new Error(`openapi/guides/${file}: the first heading is missing`);
      return { name: file.replace(/^\d+-/, '').replace(/\.md$/, ''), title, markdown };
    }),
  );
}

const languages: Readonly<Record<string, string>> = {
  sh: 'Shell',
  ts: 'TypeScript',
  js: 'JavaScript',
  html: 'HTML',
  json: 'JSON',
};

const markdown = new Marked({
  renderer: {
    heading({ tokens, depth, text }) {
      return `<h${depth} id="${slug(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    // Focusable, so that long lines can be scrolled by keyboard.
    code({ text, lang = '' }) {
      const name = languages[lang.split(' ')[0] ?? ''] ?? 'Text';
      return `<pre tabindex="0" aria-label="${name}"><code>${escaped(text)}</code></pre>\n`;
    },
    table(token) {
      const row = (cells: typeof token.header, tag: string) =>
        `<tr>${cells.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>`;
      const rows = token.rows.map((cells) => row(cells, 'td')).join('\n');
      const head = row(token.header, 'th scope="col"').replaceAll('</th scope="col">', '</th>');
      return `<div class="table" tabindex="0" role="group" aria-label="Table"><table>\n<thead>${head}</thead>\n<tbody>\n${rows}\n</tbody>\n</table></div>\n`;
    },
  },
});

const slug = (text: string) =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');

/** Renders Markdown as HTML. Removes comments, which are markers for the tests. */
export function html(text: string): string {
  return markdown.parse(text.replace(/<!--[^]*?-->\n?/g, ''), { async: false });
}
