import type { ModelEntry } from '../catalogue.ts';
import { type CallSample, curl, object, openai, post, python, typescript } from './call-text.ts';
import { kindOf, type ModelKind } from './model-kinds.ts';
import { taskCalls } from './task-calls.ts';

/** Stands for the id of a custom voice in the samples of models without system voices. */
export const voicePlaceholder = 'YOUR_VOICE_ID';

/** Returns the main call of a model in each language. `voice` is its first system voice. */
export function callsOf(model: ModelEntry, voice: string = voicePlaceholder): CallSample[] {
  return calls[kindOf(model)](model, voice);
}

const calls: Readonly<Record<ModelKind, (model: ModelEntry, voice: string) => CallSample[]>> = {
  ...taskCalls,
  speech: speechCalls,
  realtime: realtimeCalls,
  voices: voiceCalls,
  messages: messageCalls,
  embeddings: embeddingCalls,
  verification: verificationCalls,
};

const writeFile = `import { writeFile } from 'node:fs/promises';\n`;
const style = 'Speak slowly and warmly.';

function speechCalls({ id, protocols, family, instruct }: ModelEntry, voice: string): CallSample[] {
  const path = '/v1/audio/speech';
  const body = { model: id, voice, input: 'Good morning.', instructions: instruct ? style : undefined };
  const file = protocols.includes('multimodal') && family !== 'beta' ? 'speech.wav' : 'speech.mp3';
  return [
    curl(`${post(path, body)} \\\n  -o ${file}`),
    typescript(
      `const audio = await new Unigate().speech.create(${object(body)});
await writeFile('${file}', await audio.bytes());`,
      writeFile,
    ),
    python(path, body, `with open("${file}", "wb") as file:\n    file.write(response.content)`),
    openai(
      `const speech = await openai.audio.speech.create(${object(body)});
await writeFile('${file}', Buffer.from(await speech.arrayBuffer()));`,
      writeFile,
    ),
  ];
}

function realtimeCalls({ id, instruct }: ModelEntry, voice: string): CallSample[] {
  const session = { voice, instructions: instruct ? style : undefined };
  const client = `import { writeFile } from 'node:fs/promises';
import { Unigate, wavHeader } from '@unigate/client';

const session = await new Unigate().realtime('${id}');
await session.update(${object(session)});
session.append('Good morning.');
session.finish();
const pcm = Buffer.concat(await Array.fromAsync(session.audio()));
await writeFile('speech.wav', Buffer.concat([wavHeader(24_000, pcm.length), pcm]));
await session.close();`;
  const socket = `import { WebSocket } from 'ws';

const base = (process.env.UNIGATE_BASE_URL ?? '').replace(/^http/, 'ws');
const socket = new WebSocket(\`\${base}/api-ws/v1/realtime?model=${id}\`, {
  headers: { authorization: \`Bearer \${process.env.UNIGATE_API_KEY}\` },
});
const send = (event: object) => socket.send(JSON.stringify({ event_id: crypto.randomUUID(), ...event }));
const chunks: Buffer[] = [];
socket.on('open', () => send({ type: 'session.update', session: ${object(session)} }));
socket.on('message', (data) => {
  const event = JSON.parse(String(data));
  if (event.type === 'session.updated') {
    send({ type: 'input_text_buffer.append', text: 'Good morning.' });
    send({ type: 'session.finish' });
  }
  if (event.type === 'response.audio.delta') chunks.push(Buffer.from(event.delta, 'base64'));
  if (event.type === 'error') console.error(event.error);
  if (event.type === 'session.finished') console.log('bytes of PCM', Buffer.concat(chunks).length);
});`;
  return [
    { label: 'TypeScript', language: 'ts', code: client },
    { label: 'WebSocket', language: 'ts', code: socket },
  ];
}

const customization = '/api/v1/services/audio/tts/customization';

function voiceCalls({ id }: ModelEntry): CallSample[] {
  if (id === 'alpha-voice-enrollment') return cloneCalls(id);
  const words = { voice_prompt: 'A calm low voice.', preview_text: 'Welcome to the museum.' };
  const shared = id === 'voice-enrollment';
  const target_model = shared ? 'voxa-v3.5-flash' : 'alpha3-tts-vd-2026-01-26';
  const input = shared
    ? { action: 'create_voice', target_model, prefix: 'guide', ...words }
    : { action: 'create', target_model, preferred_name: 'guide', ...words };
  return [
    curl(post(customization, { model: id, input })),
    typescript(`const { voices } = new Unigate();
const voice = await voices.design(${object({ target_model, name: 'guide', ...words })});
await voices.waitFor(voice);
console.log(voice.id);`),
    python(customization, { model: id, input }, 'print(response.json()["output"])'),
  ];
}

function cloneCalls(model: string): CallSample[] {
  const target_model = 'alpha3-tts-vc-2026-01-22';
  return [
    curl(`curl --fail-with-body -sS "$UNIGATE_BASE_URL${customization}" \\
  -H "Authorization: Bearer $UNIGATE_API_KEY" -H 'Content-Type: application/json' -d @- <<JSON
{"model": "${model}", "input": {"action": "create", "target_model": "${target_model}", "preferred_name": "guide",
  "audio": {"data": "data:audio/wav;base64,$(base64 < recording.wav | tr -d '\\n')"}}}
JSON`),
    typescript(
      `const recording = await readFile('recording.wav', 'base64');
const voice = await new Unigate().voices.clone({
  target_model: '${target_model}',
  name: 'guide',
  audio: \`data:audio/wav;base64,\${recording}\`,
});
console.log(voice.id);`,
      `import { readFile } from 'node:fs/promises';\n`,
    ),
  ];
}

function messageCalls({ id }: ModelEntry): CallSample[] {
  const body = { model: id, max_tokens: 256, messages: [{ role: 'user', content: 'When is low tide?' }] };
  const headers = { 'compat-version': '2023-06-01' };
  const sdk = `import Anthropic from '@anthropic-ai/sdk';

const anthropic = new Anthropic({
  baseURL: process.env.UNIGATE_BASE_URL,
  apiKey: process.env.UNIGATE_API_KEY,
});
const message = await anthropic.messages.create(${object(body)});
console.log(message.content, message.usage);`;
  return [
    curl(post('/v1/messages', body, headers)),
    typescript(`const message = await new Unigate().messages.create(${object(body)});
console.log(message.content, message.usage);`),
    python('/v1/messages', body, 'print(response.json()["content"])', headers),
    { label: '@anthropic-ai/sdk', language: 'ts', code: sdk },
  ];
}

function embeddingCalls({ id }: ModelEntry): CallSample[] {
  const body = { model: id, input: 'A paper boat.' };
  const show = 'console.log(data[0]?.embedding.length, usage.total_tokens);';
  return [
    curl(post('/v1/embeddings', body)),
    typescript(`const { data, usage } = await new Unigate().embeddings.create(${object(body)});\n${show}`),
    python('/v1/embeddings', body, 'print(len(response.json()["data"][0]["embedding"]))'),
    openai(`const { data, usage } = await openai.embeddings.create(${object(body)});\n${show}`),
  ];
}

function verificationCalls(): CallSample[] {
  const path = '/api/resource-channel/vendorx/visual-validate/sessions';
  const body = { callback_url: 'https://app.example/verified' };
  return [
    curl(post(path, body)),
    typescript(`const session = await new Unigate().verification.create(${object(body)});
console.log(session.session_id, session.h5_link);`),
    python(path, body, 'print(response.json()["data"]["h5_link"])'),
  ];
}
