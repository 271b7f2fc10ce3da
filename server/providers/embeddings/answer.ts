import type { Usage } from '../../quota/metering.ts';
import { field } from '../json.ts';
import { countersOf, tokensIn, usageOf } from '../token-usage.ts';
import { unusableResponse } from '../unusable.ts';
import { AnswerSplitter } from './answer-splitter.ts';
import { type Encoding, publicVector } from './vectors.ts';

/** What the answer to a request must have. */
export interface EmbeddingsAsked {
  /** The model's public id. */
  model: string;
  /** Number of inputs. */
  count: number;
  encoding: Encoding;
  /** For a provider that reports no usage. */
  likely: Usage;
}

/**
 * The public answer, made of a provider's while that comes. The last piece comes when `finish` has resolved, which gets
 * the usage.
 *
 * @throws Failure 502 when it is not one vector for each input
 */
export async function* publicEmbeddings(
  body: AsyncIterable<Buffer>,
  { model, count, encoding, likely }: EmbeddingsAsked,
  finish: (usage: Usage) => Promise<void>,
): AsyncGenerator<Buffer> {
  const splitter = new AnswerSplitter();
  let seen = 0;
  let before = '{"object":"list","data":[';
  for await (const piece of body) {
    const vectors = splitter.take(piece).map((item) => publicVector(item, seen++, encoding));
    if (seen > count) throw unusableResponse();
    if (vectors.length === 0) continue;
    yield Buffer.from(before + vectors.join(','));
    before = ',';
  }
  const outline = splitter.end();
  if (seen !== count || !Array.isArray(field(outline, 'data'))) throw unusableResponse();
  const report = field(outline, 'usage');
  const input = tokensIn(report, 'prompt_tokens', 'input_tokens', 'total_tokens') ?? likely.inputTokens;
  await finish(usageOf(input, 0));
  yield Buffer.from(`],"model":${JSON.stringify(model)},"usage":${JSON.stringify(countersOf(input, 0))}}`);
}
