import { type Samples, shownJson } from '../calls/samples.ts';
import type { JsonObject } from '../contract/form.ts';
import { gatewayUrl } from '../session/session.ts';

/** Fields of the official SDK. It sends further fields as part of its form, so the example is limited to these. */
const sdkFields = ['model', 'prompt', 'seconds', 'size'];

/** Returns a request of the videos format with the official `openai` package. */
export function openAiSample(body: JsonObject): Samples {
  const entries = Object.entries(body).filter(([name]) => sdkFields.includes(name));
  return {
    'OpenAI SDK': `import OpenAI from 'openai';

const openai = new OpenAI({ baseURL: '${gatewayUrl}/v1', apiKey: process.env.UNIGATE_API_KEY });
const video = await openai.videos.create(${shownJson(Object.fromEntries(entries))});
console.log(video.id);`,
  };
}
