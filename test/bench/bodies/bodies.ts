const megabyte = 1024 * 1024;
const official = '/api/v3/contents/generations/tasks';
const native = '/api/v1/services/aigc/video-generation/video-synthesis';
const seedance = '"model":"epsilon-delta-2-0-260128"';
const boundary = 'bench';

/** A large body that could block the event loop. */
export interface WorstBody {
  title: string;
  path: string;
  headers?: Readonly<Record<string, string>>;
  /** Creates the body when it is sent, because it is large. */
  create(): Buffer;
  /** Expected status. */
  status: number;
}

/** Returns `before`, as many `part`s as fit into the size, and `after`. */
function fillBody(before: string, part: string, after: string, megabytes: number): Buffer {
  const available = megabytes * megabyte - Buffer.byteLength(before) - Buffer.byteLength(after);
  return Buffer.from(before + part.repeat(Math.floor(available / Buffer.byteLength(part))) + after);
}

const image = (prefix = '') =>
  `{${seedance},${prefix}"content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,`;
const text = `{${seedance},"content":[{"type":"text","text":"`;
const form = { 'content-type': `multipart/form-data; boundary=${boundary}` };
const part = (name: string, more = '') =>
  `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n`;
const model = `${part('model')}gamma3.0-video\r\n`;
/** Returns a request with `count` inline images of the maximum size. */
const gammaMedia = (count: number) =>
  Buffer.from(
    JSON.stringify({
      model: 'gamma3.0-video',
      input: {
        media: Array.from({ length: count }, (_, index) => ({
          type: index === 0 ? 'first_frame' : 'last_frame',
          url: `data:image/png;base64,${'QUJD'.repeat((19.9 * megabyte) / 3)}`,
        })),
      },
    }),
  );

/** Bodies up to the limits of their routes, and larger ones. */
export const bodies: readonly WorstBody[] = [
  { title: 'two inline images of 20 MB', path: native, create: () => gammaMedia(2), status: 200 },
  {
    title: 'the same, with an idempotency key',
    path: native,
    headers: { 'idempotency-key': 'bench' },
    create: () => gammaMedia(2),
    status: 200,
  },
  {
    title: 'an inline image of 30 MB and a character outside of Latin-1',
    path: official,
    create: () => fillBody(image('"safety_identifier":"안",'), 'QUJD', '"}}]}', 40),
    status: 200,
  },
  {
    title: 'an inline image of 48 MB, which is too large',
    path: official,
    create: () => fillBody(image(), 'QUJD', '"}}]}', 64),
    status: 400,
  },
  {
    title: 'the same with its slashes escaped',
    path: official,
    create: () => fillBody(image(), `${'QUJD'.repeat(16)}\\/`, '"}}]}', 64),
    status: 400,
  },
  {
    title: 'Base64 as the prompt',
    path: native,
    create: () => fillBody('{"model":"gamma3.0-video","input":{"prompt":"', 'QUJD', '"}}', 64),
    status: 200,
  },
  {
    title: '1 MB of escapes as the prompt',
    path: native,
    create: () => fillBody('{"model":"gamma3.0-video","input":{"prompt":"', '\\n\\"', '"}}', 1),
    status: 200,
  },
  {
    title: '64 MB of escapes',
    path: official,
    create: () => fillBody(text, '\\u0041', '"}]}', 64),
    status: 413,
  },
  { title: '62 MB of blanks', path: official, create: () => fillBody('{', ' ', '}', 62), status: 413 },
  {
    title: '62 MB of small items',
    path: official,
    create: () => fillBody(`{${seedance},"content":[`, '{"type":"text","text":"a"},', '{}]}', 62),
    status: 400,
  },
  {
    title: '60 MB of empty lists',
    path: official,
    create: () => fillBody(`{${seedance},"content":[`, '[],', '[]]}', 60),
    status: 400,
  },
  {
    title: '49,000 empty lists as content',
    path: official,
    create: () => Buffer.from(`{${seedance},"content":[${'[],'.repeat(49_000)}[]]}`),
    status: 400,
  },
  {
    title: '49,000 values in an unknown field',
    path: native,
    create: () =>
      Buffer.from(
        `{"model":"gamma3.0-video","input":{"prompt":"A boat."},"parameters":{"extra":[${'[],'.repeat(48_990)}[]]}}`,
      ),
    status: 200,
  },
  {
    title: '24,000 unknown fields',
    path: native,
    create: () => {
      const fields = Array.from({ length: 24_000 }, (_, index) => `"f${index}":0`).join();
      return Buffer.from(`{"model":"gamma3.0-video","input":{"prompt":"A boat."},"parameters":{${fields}}}`);
    },
    status: 200,
  },
  {
    title: 'a form with 499 parts',
    path: '/v1/videos',
    headers: form,
    create: () => Buffer.from(`${model}${`${part('metadata[x][]')}1\r\n`.repeat(499)}--${boundary}--\r\n`),
    status: 400,
  },
  {
    title: 'a form with a data URL of 26 MB',
    path: '/v1/videos',
    headers: form,
    create: () =>
      fillBody(`${model}${part('image')}data:image/png;base64,`, 'QUJD', `\r\n--${boundary}--\r\n`, 26),
    status: 200,
  },
  {
    title: 'a form with a data URL of 64 MB',
    path: '/v1/videos',
    headers: form,
    create: () =>
      fillBody(`${model}${part('image')}data:image/png;base64,`, 'QUJD', `\r\n--${boundary}--\r\n`, 64),
    status: 413,
  },
  {
    title: 'a form with JSON text of 1 MB',
    path: '/v1/videos',
    headers: form,
    create: () => fillBody(`${model}${part('metadata')}{"x":[`, '[],', `[]]}\r\n--${boundary}--\r\n`, 0.25),
    status: 400,
  },
  {
    title: '1 MB for speech',
    path: '/v1/audio/speech',
    create: () =>
      fillBody('{"model":"voxa-v3-flash","voice":"x","extra_body":{"input":{"x":"', '\\n', '"}}}', 1),
    status: 400,
  },
];
