import type { MessageRequest } from '../../index.ts';
import { clientSample, type Samples, samplesOf, shownJson } from '../calls/samples.ts';
import { gatewayUrl } from '../session/session.ts';

/** Returns the request in several languages. All of them stream the message. */
export function messageSamples(request: MessageRequest): Samples {
  const body = shownJson(request);
  return samplesOf(
    'createMessage',
    { ...request, stream: true },
    {
      headers: { 'compat-version': '2023-06-01' },
      extra: {
        TypeScript: clientSample(`const stream = client.messages.events(${body});
for await (const event of stream) {
  if (event.type === 'content_block_delta' && event.delta.type === 'text_delta')
    process.stdout.write(event.delta.text);
}`),
        'Anthropic SDK': `import Anthropic from '@anthropic-ai/sdk';

const anthropic = new Anthropic({
  baseURL: '${gatewayUrl}',
  apiKey: process.env.UNIGATE_API_KEY,
});
const stream = anthropic.messages.stream(${body});
stream.on('text', (text) => process.stdout.write(text));
const { usage } = await stream.finalMessage();`,
      },
    },
  );
}
