import { createAlibaba } from '@ai-sdk/alibaba';
import { createByteDance } from '@ai-sdk/bytedance';
import Anthropic from '@anthropic-ai/sdk';
import { ChatAnthropic } from '@langchain/anthropic';
import { experimental_generateVideo as generateVideo } from 'ai';
import OpenAI from 'openai';

// The script of a page. Tests call these functions by name with the address and the key.

const latin = (bytes: Uint8Array, start: number) => String.fromCharCode(...bytes.subarray(start, start + 4));
const model = 'iota-chat-1';
const messages = [{ role: 'user' as const, content: 'When is low tide?' }];

const tried = {
  async openai(url: string, apiKey: string) {
    const sdk = new OpenAI({
      baseURL: `${url}/v1`,
      apiKey,
      organization: 'org_1',
      project: 'proj_1',
      dangerouslyAllowBrowser: true,
    });
    const speech = await sdk.audio.speech.create({
      model: 'alpha3-tts-flash',
      voice: 'Aria',
      input: 'Hello.',
    });
    const { data } = await sdk.embeddings.create({ model: 'theta-embedding-1', input: 'A boat.' });
    return [latin(new Uint8Array(await speech.arrayBuffer()), 0), data.length];
  },
  async anthropic(url: string, apiKey: string) {
    const sdk = new Anthropic({ baseURL: url, apiKey, dangerouslyAllowBrowser: true });
    const { role } = await sdk.messages.create({ model, max_tokens: 64, messages });
    const streamed = await sdk.messages.stream({ model, max_tokens: 64, messages }).finalMessage();
    return [role, streamed.role];
  },
  async langchain(url: string, apiKey: string) {
    const chat = new ChatAnthropic({
      model,
      apiKey,
      anthropicApiUrl: url,
      maxTokens: 64,
      clientOptions: { dangerouslyAllowBrowser: true },
    });
    return typeof (await chat.invoke('When is low tide?')).content;
  },
  alibaba(url: string, apiKey: string) {
    const provider = createAlibaba({ videoBaseURL: url, apiKey });
    return createVideo(provider.video('gamma3.0-video'), 2, { alibaba: { pollIntervalMs: 100 } });
  },
  bytedance(url: string, apiKey: string) {
    const provider = createByteDance({ baseURL: `${url}/api/v3`, apiKey });
    const seedance = provider.video('epsilon-delta-2-0-fast-260128');
    return createVideo(seedance, 4, { bytedance: { pollIntervalMs: 100 } });
  },
};
Object.assign(globalThis, { tried });

type VideoCall = Parameters<typeof generateVideo>[0];

async function createVideo(
  videoModel: VideoCall['model'],
  duration: number,
  providerOptions: NonNullable<VideoCall['providerOptions']>,
): Promise<string> {
  // The SDK refuses loopback addresses.
  const download = async ({ url }: { url: URL }) => {
    const response = await fetch(url);
    const data = new Uint8Array(await response.arrayBuffer());
    return { data, mediaType: response.headers.get('content-type') ?? undefined };
  };
  const options = { prompt: 'A paper boat.', duration, download, providerOptions };
  const { video } = await generateVideo({ model: videoModel, ...options });
  return latin(video.uint8Array, 4);
}
