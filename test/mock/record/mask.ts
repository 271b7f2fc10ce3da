import { isObject, type Json } from '../../../openapi/tools/document.ts';
import { fileFor } from '../media.ts';

/** Names of fields with secrets, with any prefix. */
const secretField = /(?:^|[_-])(?:key|secret|token|password|authorization|signature|credential|cookie)s?$/i;
/** Secrets inside a text that contains JSON or a query. */
const secretInText =
  /((?:key|secret|token|password|authorization|signature|credential|cookie)s?\\?["']?\s*[:=]\s*\\?["']?)([^"'\\\s&,}]{6,})/gi;
const secretForms = [/\bsk-[\w*-]{6,}/g, /\bwhsec_[\w+/=-]+/g, /\beyJ[\w-]+\.[\w-]+\.[\w-]+/g];
const bearer = /\b(Bearer|Basic)\s+[\w.~+/=-]+/gi;
const urlPattern = /\b(?:https?|wss?):\/\/[^\s"'<>\\]+/g;

/** Masks a secret. The result has the same length and prefix, so it still matches the schema. */
const maskSecret = (secret: string): string => {
  const start = /^(?:sk-|whsec_|vt_|req_)/.exec(secret)?.[0] ?? '';
  return start + secret.slice(start.length).replace(/[^\W_]/g, '0');
};

/**
 * Masks a URL, whose host, path and query can grant access. Keeps the file extension, by which the mock selects a file.
 */
function maskUrl(url: string): string {
  const extension = /\.([a-z0-9]{2,5})$/i.exec(URL.parse(url)?.pathname ?? '')?.[1]?.toLowerCase() ?? '';
  return fileFor(extension) === undefined
    ? 'https://files.example/masked'
    : `https://files.example/masked.${extension}`;
}

/** Returns a copy without keys, tokens and URLs that grant access. */
export function masked(value: Json, secrets: readonly string[], field = ''): Json {
  if (typeof value === 'string')
    return secretField.test(field) ? maskSecret(value) : maskedText(value, secrets);
  if (Array.isArray(value)) return value.map((item) => masked(item, secrets, field));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      maskedText(key, secrets),
      masked(item ?? null, secrets, key),
    ]),
  );
}

/** Masks a text. All occurrences of `secrets` are masked. */
export function maskedText(text: string, secrets: readonly string[]): string {
  let result = text;
  for (const secret of secrets) result = result.replaceAll(secret, maskSecret(secret));
  for (const form of secretForms) result = result.replace(form, maskSecret);
  return result
    .replace(bearer, '$1 masked')
    .replace(urlPattern, maskUrl)
    .replace(secretInText, (_, name: string, secret: string) => name + maskSecret(secret));
}
