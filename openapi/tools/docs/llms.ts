import { leadOf } from './guides.ts';
import type { SitePages } from './pages.ts';

/** Returns `llms.txt`: all pages as Markdown files, by section of the menu. See https://llmstxt.org. */
export function llmsText({ pages, sidebar }: SitePages): string {
  const sections = sidebar.map(({ text, items = [] }) => {
    const lines = items
      .flatMap((item) => [item, ...(item.items ?? [])])
      .flatMap(({ text: title, link = '' }) => {
        const path = link.replace(/^\//, '').replace(/\/$/, '/index');
        const markdown = pages.get(path);
        if (markdown === undefined || path === 'docs/reference') return [];
        return `- [${title}](http://127.0.0.1:8080/${path}.md): ${leadOf(markdown)}`;
      });
    return `## ${text}\n\n${lines.join('\n')}`;
  });
  return `# Unigate

> One base address and one API key in front of speech, video, music, 3D, images, embeddings and messages.

The contract is http://127.0.0.1:8080/openapi.json (OpenAPI 3.1) and http://127.0.0.1:8080/asyncapi.json (AsyncAPI 3.0).

${sections.join('\n\n')}
`;
}
