const megabyte = 1024 * 1024;
const official = '/api/v3/contents/generations/tasks';
const native = '/api/v1/services/aigc/video-generation/video-synthesis';
const seedance = '"model":"epsilon-delta-2-0-260128"';
const boundary = 'bench';

/** A body that might keep everybody waiting. */
export interface WorstBody {
  title: string;
  path: string;
  headers?: Readonly<Record<string, string>>;
  /** Made when it is sent: they are large. */
  make(): Buffer;
  /** The status it must be answered with. */
  status: number;
}

/** Begun and ended as given, with as many of `part` in between as a body of so many megabytes can have. */
function filled(before: string, part: string, after: string, megabytes: number): Buffer {
  const room = megabytes * megabyte - Buffer.byteLength(before) - Buffer.byteLength(after);
  return Buffer.from(before + part.repeat(Math.floor(room / Buffer.byteLength(part))) + after);
}

const image = (head = '') =>
  `{${seedance},${head}"content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,`;
const text = `{${seedance},"content":[{"type":"text","text":"`;
const form = { 'content-type': `multipart/form-data; boundary=${boundary}` };
const part = (name: string, more = '') =>
  `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n`;
const model = `${part('model')}gamma3.0-video\r\n`;
/** An end that makes a picture of so many bytes the largest that a model takes. */
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

/** Up to the limits of their routes, and beyond. */
export const bodies: readonly WorstBody[] = [
  { title: 'two inline images of 20 MB', path: native, make: () => gammaMedia(2), status: 200 },
  {
    title: 'the same, with an idempotency key',
    path: native,
    headers: { 'idempotency-key': 'bench' },
    make: () => gammaMedia(2),
    status: 200,
  },
  {
    title: 'an inline image of 30 MB, beside a character outside of Latin-1',
    path: official,
    make: () => filled(image('"safety_identifier":"안",'), 'QUJD', '"}}]}', 40),
    status: 200,
  },
  {
    title: 'an inline image of 48 MB, which is too large',
    path: official,
    make: () => filled(image(), 'QUJD', '"}}]}', 64),
    status: 400,
  },
  {
    title: 'the same with its slashes escaped',
    path: official,
    make: () => filled(image(), `${'QUJD'.repeat(16)}\\/`, '"}}]}', 64),
    status: 400,
  },
  {
    title: 'Base64 as the prompt',
    path: native,
    make: () => filled('{"model":"gamma3.0-video","input":{"prompt":"', 'QUJD', '"}}', 64),
    status: 200,
  },
  {
    title: '1 MB of escapes as the prompt',
    path: native,
    make: () => filled('{"model":"gamma3.0-video","input":{"prompt":"', '\\n\\"', '"}}', 1),
    status: 200,
  },
  { title: '64 MB of escapes', path: official, make: () => filled(text, '\\u0041', '"}]}', 64), status: 413 },
  { title: '62 MB of blanks', path: official, make: () => filled('{', ' ', '}', 62), status: 413 },
  {
    title: '62 MB of small items',
    path: official,
    make: () => filled(`{${seedance},"content":[`, '{"type":"text","text":"a"},', '{}]}', 62),
    status: 400,
  },
  {
    title: '60 MB of empty lists',
    path: official,
    make: () => filled(`{${seedance},"content":[`, '[],', '[]]}', 60),
    status: 400,
  },
  {
    title: '49,000 empty lists as content',
    path: official,
    make: () => Buffer.from(`{${seedance},"content":[${'[],'.repeat(49_000)}[]]}`),
    status: 400,
  },
  {
    title: '49,000 values in a field that nobody knows',
    path: native,
    make: () =>
      Buffer.from(
        `{"model":"gamma3.0-video","input":{"prompt":"A boat."},"parameters":{"extra":[${'[],'.repeat(48_990)}[]]}}`,
      ),
    status: 200,
  },
  {
    title: '24,000 fields that nobody knows',
    path: native,
    make: () => {
      const fields = Array.from({ length: 24_000 }, (_, index) => `"f${index}":0`).join();
      return Buffer.from(`{"model":"gamma3.0-video","input":{"prompt":"A boat."},"parameters":{${fields}}}`);
    },
    status: 200,
  },
  {
    title: 'a form with 499 parts',
    path: '/v1/videos',
    headers: form,
    make: () => Buffer.from(`${model}${`${part('metadata[x][]')}1\r\n`.repeat(499)}--${boundary}--\r\n`),
    status: 400,
  },
  {
    title: 'a form with a data URL of 26 MB',
    path: '/v1/videos',
    headers: form,
    make: () =>
      filled(`${model}${part('image')}data:image/png;base64,`, 'QUJD', `\r\n--${boundary}--\r\n`, 26),
    status: 200,
  },
  {
    title: 'a form with a data URL of 64 MB',
    path: '/v1/videos',
    headers: form,
    make: () =>
      filled(`${model}${part('image')}data:image/png;base64,`, 'QUJD', `\r\n--${boundary}--\r\n`, 64),
    status: 413,
  },
  {
    title: 'a form with JSON text of 1 MB',
    path: '/v1/videos',
    headers: form,
    make: () => filled(`${model}${part('metadata')}{"x":[`, '[],', `[]]}\r\n--${boundary}--\r\n`, 0.25),
    status: 400,
  },
  {
    title: '1 MB for speech',
    path: '/v1/audio/speech',
    make: () => filled('{"model":"voxa-v3-flash","voice":"x","extra_body":{"input":{"x":"', '\\n', '"}}}', 1),
    status: 400,
  },
];
