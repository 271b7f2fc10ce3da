import { type JsonObject, operationsOf } from '../document.ts';

/** A call in inline code that is not part of a link, such as `POST /v1/videos`. A query or fragment can follow. */
const call = /(?<!\[)`(GET|POST|PUT|PATCH|DELETE) (\/[^\s`?]*)([^`\n]*)`(?!\])/g;

/** Lines that stay as they are: headings, whose text names an anchor, and code blocks. */
const unchanged = /^(?:```[^]*?^```|#.*)$/gm;

/** Returns a guide whose calls in inline code lead to their operations in the API reference. */
export function withOperationLinks(markdown: string, openapi: JsonObject): string {
  const ids = new Map(operationsOf(openapi).map(({ id, method, path }) => [`${method} ${path}`, id]));
  const link = (text: string) =>
    text.replace(call, (code, method: string, path: string) => {
      const id = ids.get(`${method.toLowerCase()} ${path}`);
      return id === undefined ? code : `[${code}](/docs/reference#operation/${id})`;
    });
  let linked = '';
  let end = 0;
  for (const { index, 0: kept } of markdown.matchAll(unchanged)) {
    linked += link(markdown.slice(end, index)) + kept;
    end = index + kept.length;
  }
  return linked + link(markdown.slice(end));
}
