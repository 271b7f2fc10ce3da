import { createHash } from 'node:crypto';
import { isObject, type Json } from '../../openapi/tools/document.ts';
import type { DocumentedOperation, Media } from '../conformance/contract/documented.ts';
import { schemaProblems } from '../conformance/contract/schemas.ts';
import { asText, pathOf } from '../conformance/wire/exchange.ts';
import { type Prism, startPrism } from './prism.ts';

/** How often another try is made when what was made up breaks the schema, which Prism's generator follows nearly. */
const tries = 6;

/** Made-up answers within the contract: Prism's, each held to its schema. Prism starts with the first of them. */
export class MadeUpAnswers {
  readonly #seed: string;
  #prism: Promise<Prism> | undefined;

  /** Equal seeds give equal answers to equal requests. */
  constructor(seed: string) {
    this.#seed = seed;
  }

  /** Begins to start Prism, so that the first answer need not wait for all of it. */
  warm(): Promise<Prism> {
    this.#prism ??= startPrism();
    return this.#prism;
  }

  /** A JSON answer to a request; undefined when nothing was made up that the schema allows. */
  async answer(
    operation: DocumentedOperation,
    status: number,
    media: Media,
    request: { url: string; body: Json | undefined; seed: string | undefined },
  ): Promise<Json | undefined> {
    const prism = await this.warm();
    const about = createHash('sha256')
      .update(JSON.stringify([this.#seed, request]))
      .digest('hex');
    for (let attempt = 0; attempt < tries; attempt += 1) {
      const response = await fetch(prism.url + pathOf(operation), {
        method: operation.method.toUpperCase(),
        redirect: 'manual',
        ...good(operation, `code=${status}, dynamic=true, seed=${about}${attempt}`),
      });
      const text = await response.text();
      if (response.status !== status) throw new Error(`Prism: ${response.status} ${text.slice(0, 300)}`);
      const made = JSON.parse(text) as Json;
      const problems = schemaProblems(media, made);
      if (problems.length === 0) return made;
      const mended = withoutItems(made, problems);
      if (schemaProblems(media, mended).length === 0) return mended;
    }
    return undefined;
  }

  async close(): Promise<void> {
    await (await this.#prism)?.close();
  }
}

/** A copy without the items of its lists that problems were found in, as `/data/3/progress must be …` tells them. */
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

/** A request that Prism takes: the client's own was checked already, and what is made up does not depend on it. */
function good({ parameters, requests }: DocumentedOperation, prefer: string) {
  const json = requests.find(({ mediaType }) => mediaType === 'application/json');
  const example = json?.examples[0]?.value;
  const required = parameters.filter((one) => one.in === 'header' && one.required);
  return {
    headers: {
      prefer,
      accept: 'application/json',
      authorization: 'Bearer any',
      'x-api-key': 'any',
      ...Object.fromEntries(required.map(({ name, examples }) => [name, asText(examples[0])])),
      ...(json !== undefined && { 'content-type': 'application/json' }),
    },
    ...(isObject(example) && { body: JSON.stringify(example) }),
  };
}
