import { isObject, type Json } from '../../../openapi/tools/document.ts';
import { fileFor } from '../media.ts';

/** Fields whose texts nobody but the caller may have, whatever stands before the word. */
const secretField = /(?:^|[_-])(?:key|secret|token|password|authorization|signature|credential|cookie)s?$/i;
/** The same inside a text that is JSON or a query itself. */
const secretInText =
  /((?:key|secret|token|password|authorization|signature|credential|cookie)s?\\?["']?\s*[:=]\s*\\?["']?)([^"'\\\s&,}]{6,})/gi;
const secretForms = [/\bsk-[\w*-]{6,}/g, /\bwhsec_[\w+/=-]+/g, /\beyJ[\w-]+\.[\w-]+\.[\w-]+/g];
const bearer = /\b(Bearer|Basic)\s+[\w.~+/=-]+/gi;
const address = /\b(?:https?|wss?):\/\/[^\s"'<>\\]+/g;

/** The same length and form, so that it still fits its schema, and nothing of the secret but what all have. */
const blank = (secret: string): string => {
  const start = /^(?:sk-|whsec_|vt_|req_)/.exec(secret)?.[0] ?? '';
  return start + secret.slice(start.length).replace(/[^\W_]/g, '0');
};

/**
 * An address without its host, its path and its query, each of which may be a permission; the file's ending is left, so that
 * the mock finds a file of its own for it.
 */
function plainAddress(url: string): string {
  const ending = /\.([a-z0-9]{2,5})$/i.exec(URL.parse(url)?.pathname ?? '')?.[1]?.toLowerCase() ?? '';
  return fileFor(ending) === undefined
    ? 'https://files.example/masked'
    : `https://files.example/masked.${ending}`;
}

/** A copy of an answer that may be kept: without keys, tokens, and addresses that are permissions. */
export function masked(value: Json, secrets: readonly string[], field = ''): Json {
  if (typeof value === 'string') return secretField.test(field) ? blank(value) : maskedText(value, secrets);
  if (Array.isArray(value)) return value.map((item) => masked(item, secrets, field));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      maskedText(key, secrets),
      masked(item ?? null, secrets, key),
    ]),
  );
}

/** The same of a text. `secrets` are blanked wherever they stand. */
export function maskedText(text: string, secrets: readonly string[]): string {
  let result = text;
  for (const secret of secrets) result = result.replaceAll(secret, blank(secret));
  for (const form of secretForms) result = result.replace(form, blank);
  return result
    .replace(bearer, '$1 masked')
    .replace(address, plainAddress)
    .replace(secretInText, (_, name: string, secret: string) => name + blank(secret));
}
