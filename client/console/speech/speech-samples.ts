import type { SpeechRequest } from '../../index.ts';
import { clientSample, type Samples, samplesOf, shownJson } from '../calls/samples.ts';
import { gatewayUrl } from '../session/session.ts';

/** Returns the call in all languages. `defaultFormat` is the format of a file if the body names none. */
export function speechSamples(body: SpeechRequest, defaultFormat: string): Samples {
  const { stream_format, ...request } = body;
  const file = `speech.${body.response_format ?? defaultFormat}`;
  const { curl = '', Python = '' } = samplesOf('createSpeech', body);
  const json = shownJson(request);
  const hasEvents = stream_format === 'sse';
  return {
    curl: hasEvents ? curl.replace('curl', 'curl -N') : `${curl} \\\n  -o ${file}`,
    TypeScript: `import { writeFile } from 'node:fs/promises';
${clientSample(hasEvents ? eventCode(json, file) : audioCode(json, file))}`,
    Python: `${Python}
${hasEvents ? pythonEvents : `with open("${file}", "wb") as file:\n    file.write(response.content)`}`,
    'OpenAI SDK': `import { writeFile } from 'node:fs/promises';
import OpenAI from 'openai';

const openai = new OpenAI({ baseURL: '${gatewayUrl}/v1', apiKey: process.env.UNIGATE_API_KEY });
const audio = await openai.audio.speech.create(${json});
await writeFile('${file}', Buffer.from(await audio.arrayBuffer()));`,
  };
}

const audioCode = (json: string, file: string) => `const audio = await client.speech.create(${json});
await writeFile('${file}', await audio.bytes());`;

const eventCode = (json: string, file: string) => `const chunks: Buffer[] = [];
for await (const { output } of client.speech.events(${json})) {
  if (output && 'audio' in output) chunks.push(Buffer.from(output.audio?.data ?? '', 'base64'));
  if (output && 'sentence' in output) console.log(output.sentence.words);
}
await writeFile('${file}', Buffer.concat(chunks));`;

const pythonEvents = `for line in response.iter_lines(decode_unicode=True):
    if line.startswith("data:"):
        print(line[5:])`;
