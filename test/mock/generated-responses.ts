import { createHash } from 'node:crypto';
import { isObject, type Json } from '../../openapi/tools/document.ts';
import type { DocumentedOperation, Media } from '../conformance/contract/documented.ts';
import { schemaProblems } from '../conformance/contract/schemas.ts';
import { asText, pathOf } from '../conformance/wire/exchange.ts';
import { type Prism, startPrism } from './prism.ts';

/** Attempts to generate a valid value. Prism's generator sometimes violates the schema. */
const maxAttempts = 6;

/** Generates responses with Prism and validates them. Prism starts with the first one. */
export class GeneratedResponses {
  readonly #seed: string;
  #prism: Promise<Prism> | undefined;

  /** The same seed generates the same response to the same request. */
  constructor(seed: string) {
    this.#seed = seed;
  }

  /** Starts Prism early, which shortens the first response. */
  start(): Promise<Prism> {
    this.#prism ??= startPrism();
    return this.#prism;
  }

  /** Returns a JSON response. Undefined if no valid value was generated. */
  async generate(
    operation: DocumentedOperation,
    status: number,
    media: Media,
    request: { url: string; body: Json | undefined; seed: string | undefined },
  ): Promise<Json | undefined> {
    const prism = await this.start();
    const seed = createHash('sha256')
      .update(JSON.stringify([this.#seed, request]))
      .digest('hex');
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const response = await fetch(prism.url + pathOf(operation), {
        method: operation.method.toUpperCase(),
        redirect: 'manual',
        ...validRequest(operation, `code=${status}, dynamic=true, seed=${seed}${attempt}`),
      });
      const text = await response.text();
      if (response.status !== status) throw new Error(`Prism: ${response.status} ${text.slice(0, 300)}`);
      const value = JSON.parse(text) as Json;
      const problems = schemaProblems(media, value);
      if (problems.length === 0) return value;
      const repaired = withoutItems(value, problems);
      if (schemaProblems(media, repaired).length === 0) return repaired;
    }
    return undefined;
  }

  async close(): Promise<void> {
    await (await this.#prism)?.close();
  }
}

/** Returns a copy without the list items that have problems, such as `/data/3/progress must be …`. */
function withoutItems(value: Json, problems: readonly string[]): Json {
  const result = structuredClone(value);
  if (!isObject(result)) return result;
  for (const [field, items] of Object.entries(result)) {
    if (!Array.isArray(items)) continue;
    result[field] = items.filter(
      (_, index) => !problems.some((one) => new RegExp(`^/${field}/${index}[/ ]`).test(one)),
    );
  }
  return result;
}

/** Returns a request that Prism accepts. The generated value does not depend on the request of the client. */
function validRequest({ parameters, requests }: DocumentedOperation, prefer: string) {
  const json = requests.find(({ mediaType }) => mediaType === 'application/json');
  const example = json?.examples[0]?.value;
  const required = parameters.filter((one) => one.in === 'header' && one.required);
  return {
    headers: {
      prefer,
      accept: 'application/json',
      authorization: 'Bearer any',
      'x-api-key': 'any',
      'x-unigate-user-assertion': 'any',
      ...Object.fromEntries(required.map(({ name, examples }) => [name, asText(examples[0])])),
      ...(json !== undefined && { 'content-type': 'application/json' }),
    },
    ...(isObject(example) && { body: JSON.stringify(example) }),
  };
}
