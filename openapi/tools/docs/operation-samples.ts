import { deref, isObject, type Json, type JsonObject, type Operation, objects, text } from '../document.ts';

/** A call in one language, as the reference shows it. */
export interface CodeSample {
  lang: 'TypeScript';
  label: '@unigate/client' | 'openai';
  source: string;
}

/** Calls of the official SDK, by operation. `$` is the documented body. */
const officialCalls: Readonly<Record<string, string>> = {
  createSpeech: 'await openai.audio.speech.create($)',
  createEmbedding: 'await openai.embeddings.create($)',
  createVideo: 'await openai.videos.create($)',
  listVideos: 'await openai.videos.list()',
  getVideo: "await openai.videos.retrieve('video_…')",
  deleteVideo: "await openai.videos.delete('video_…')",
  downloadVideoContent: "await openai.videos.downloadContent('video_…')",
  listModels: 'await openai.models.list()',
  getModel: "await openai.models.retrieve('alpha3-tts-flash')",
};

/** Renders the first documented request of an operation with the typed client, and with the official SDK if it has a method. */
export function samplesOf(openapi: JsonObject, operation: Operation): CodeSample[] {
  const body = exampleBody(openapi, operation);
  const options = [
    ...Object.entries(requiredParameters(openapi, operation)).map(
      ([place, values]) => `params: { ${place}: ${literal(values)} },`,
    ),
    ...(body === undefined ? [] : [`body: ${literal(body)},`]),
  ];
  const argument = options.length === 0 ? '' : `, {\n${indented(options.join('\n'))}\n}`;
  const own: CodeSample = {
    lang: 'TypeScript',
    label: '@unigate/client',
    source: `import { Unigate } from '@unigate/client';

const client = new Unigate({ baseUrl: 'http://127.0.0.1:8080' });
const { data } = await client.call('${operation.id}'${argument});`,
  };
  const official = officialCalls[operation.id];
  if (official === undefined) return [own];
  const source = `import OpenAI from 'openai';

const openai = new OpenAI({
  baseURL: 'http://127.0.0.1:8080/v1',
  apiKey: process.env.UNIGATE_API_KEY,
});
const result = ${official.replace('$', () => literal(body ?? {}))};`;
  return [own, { lang: 'TypeScript', label: 'openai', source }];
}

/** Returns the first example of a JSON body. */
function exampleBody(openapi: JsonObject, { node }: Operation): Json | undefined {
  const { content } = deref(openapi, node.requestBody);
  const json = isObject(content) ? content['application/json'] : undefined;
  const [first] = isObject(json) ? objects(json.examples) : [];
  return first === undefined ? undefined : deref(openapi, first[1]).value;
}

/** Returns examples of the required parameters, by place and name. */
function requiredParameters(openapi: JsonObject, { node }: Operation): Record<string, JsonObject> {
  const found: Record<string, JsonObject> = {};
  for (const one of Array.isArray(node.parameters) ? node.parameters : []) {
    const parameter = deref(openapi, one);
    const place = text(parameter.in);
    if (parameter.required !== true || !['path', 'query'].includes(place)) continue;
    const schema = deref(openapi, parameter.schema);
    const examples = Array.isArray(schema.examples) ? schema.examples : [];
    found[place] = { ...found[place], [text(parameter.name)]: examples[0] ?? 'value' };
  }
  return found;
}

const maxLineLength = 72;

/** Renders a value as source, on one line if it is short. */
function literal(value: Json): string {
  const lines = JSON.stringify(value, null, 2).replace(/"([A-Za-z_$][\w$]*)":/g, '$1:');
  const line = lines.replace(/\s*\n\s*/g, ' ');
  return line.length <= maxLineLength ? line : lines;
}

const indented = (source: string) => source.replace(/^/gm, '  ');
