import { field } from '../../lib/json.ts';
import type { Usage } from '../../quota/metering.ts';
import { countersOf, countIn, usageOf } from '../token-usage.ts';
import { unusableResponse } from '../unusable-response.ts';
import { ResponseSplitter } from './splitter.ts';
import { type Encoding, publicVector } from './vectors.ts';

export interface ExpectedEmbeddings {
  /** The model's public id. */
  model: string;
  /** Number of inputs. */
  count: number;
  encoding: Encoding;
  /** Used if the provider reports no usage. */
  likely: Usage;
}

/** Translates a response as it arrives. Yields the last chunk after `finish` resolves. @throws Failure 502 */
export async function* publicEmbeddings(
  body: AsyncIterable<Buffer>,
  { model, count, encoding, likely }: ExpectedEmbeddings,
  finish: (usage: Usage) => Promise<void>,
): AsyncGenerator<Buffer> {
  const splitter = new ResponseSplitter();
  let seen = 0;
  let before = '{"object":"list","data":[';
  for await (const chunk of body) {
    const vectors = splitter.write(chunk).map((item) => publicVector(item, seen++, encoding));
    if (seen > count) throw unusableResponse();
    if (vectors.length === 0) continue;
    yield Buffer.from(before + vectors.join(','));
    before = ',';
  }
  const outline = splitter.end();
  if (seen !== count || !Array.isArray(field(outline, 'data'))) throw unusableResponse();
  const report = field(outline, 'usage');
  const input = countIn(report, 'prompt_tokens', 'input_tokens', 'total_tokens') ?? likely.inputTokens;
  await finish(usageOf(input, 0));
  yield Buffer.from(`],"model":${JSON.stringify(model)},"usage":${JSON.stringify(countersOf(input, 0))}}`);
}
