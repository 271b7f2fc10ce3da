import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { MarkdownRenderer } from 'vitepress';

/** Makes relative links between pages absolute, without ending: `errors.html#x` becomes `/docs/errors#x`. Leaves the site for the console. */
export function linkPages(markdown: MarkdownRenderer, base: string): void {
  markdown.core.ruler.push('link-pages', ({ tokens }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type !== 'link_open') continue;
      const href = token.attrGet('href') ?? '';
      if (!href.startsWith('/console')) token.attrSet('href', pageLink(href));
      else {
        // The router of the documentation does not know the console, and VitePress adds no base to links with a target.
        token.attrSet('href', base + href.slice(1));
        token.attrSet('target', '_self');
      }
    }
  });
}

function pageLink(href: string): string {
  const [, path = '', rest = ''] = /^([^?#]*)(.*)$/.exec(href) ?? [];
  if (path === '' || /^(\/|[a-z]+:)/.test(path)) return href;
  return `/docs/${path.replace(/^\.\//, '').replace(/\.(html|md)$/, '')}${rest}`;
}

/**
 * Inlines images below `drawings/`, so that they follow the theme of the page. Ids are prefixed with the name of the
 * drawing, because a page can contain several.
 */
export function addDrawings(markdown: MarkdownRenderer, folder: string): void {
  const renderImage = markdown.renderer.rules.image;
  markdown.renderer.rules.image = (tokens, index, options, env, self) => {
    const source = tokens[index]?.attrGet('src') ?? '';
    if (!/(^|\/)drawings\/[\w-]+\.svg$/.test(source))
      return renderImage?.(tokens, index, options, env, self) ?? '';
    const name = basename(source, '.svg');
    const alternative = tokens[index]?.content ?? '';
    const svg = readFileSync(join(folder, `${name}.svg`), 'utf8')
      .replace(/^[^]*?(?=<svg)/, '')
      .replace(/<!--[^]*?-->/g, '')
      .replace(/ id="([^"]+)"/g, ` id="${name}-$1"`)
      .replace(/url\(#([^)]+)\)/g, `url(#${name}-$1)`)
      .replace(/ (href|xlink:href)="#([^"]+)"/g, ` $1="#${name}-$2"`)
      .replace(/ aria-(labelledby|describedby)="([^"]+)"/g, (_, kind: string, ids: string) => {
        const prefixed = ids.split(' ').map((id) => `${name}-${id}`);
        return ` aria-${kind}="${prefixed.join(' ')}"`;
      })
      .replace(/<svg(?![^>]* role=)/, '<svg role="img"')
      .replace(/\n\s*\n/g, '\n');
    const label = alternative === '' ? '' : ` aria-label="${markdown.utils.escapeHtml(alternative)}"`;
    return `<span class="drawing" v-pre>${svg.replace(/<svg(?![^>]* aria-label)/, `<svg${label}`)}</span>`;
  };
}
