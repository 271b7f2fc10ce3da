import type { SpeechRequest } from '../../index.ts';
import { type Samples, samplesOf } from '../calls/samples.ts';
import { gatewayUrl } from '../session/session.ts';

/** Returns the call in all languages. Each one writes a file, of `defaultFormat` if the body names no format. */
export function speechSamples(body: SpeechRequest, defaultFormat: string): Samples {
  const { stream_format, ...request } = body;
  const file = `speech.${body.response_format ?? defaultFormat}`;
  const samples = samplesOf('createSpeech', body);
  const json = (value: object) => JSON.stringify(value, undefined, 2);
  const events = `for await (const event of client.speech.events(${json(request)})) {
  console.log(event.output, event.usage);
}`;
  const audio = `const audio = await client.speech.create(${json(request)});
await writeFile('${file}', await audio.bytes());`;
  return {
    ...samples,
    curl: stream_format === 'sse' ? `${samples.curl} \\\n  -N` : `${samples.curl} \\\n  -o ${file}`,
    TypeScript: `import { writeFile } from 'node:fs/promises';
import { Unigate } from '@unigate/client';

// Reads UNIGATE_API_KEY.
const client = new Unigate({ baseUrl: '${gatewayUrl}' });
${stream_format === 'sse' ? events : audio}`,
    Python: `${samples.Python}
with open("${file}", "wb") as file:
    file.write(response.content)`,
    'OpenAI SDK': `import { writeFile } from 'node:fs/promises';
import OpenAI from 'openai';

const openai = new OpenAI({ baseURL: '${gatewayUrl}/v1', apiKey: process.env.UNIGATE_API_KEY });
const audio = await openai.audio.speech.create(${json(request)});
await writeFile('${file}', Buffer.from(await audio.arrayBuffer()));`,
  };
}
