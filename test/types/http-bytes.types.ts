// What a typed client gives for bytes. Nothing here runs: `tsc` checks it.
import createClient from 'openapi-fetch';
import type { components, paths } from '../../generated/http.ts';
import type { Equal, Expect } from './equal.types.ts';

const client = createClient<paths>({ baseUrl: 'http://127.0.0.1' });
const body = { model: 'alpha3-tts-flash', input: 'Hello.', voice: 'Aria' };

const whole = await client.POST('/v1/audio/speech', { body, parseAs: 'arrayBuffer' });
export type Whole = Expect<Equal<typeof whole.data, ArrayBuffer | undefined>>;

const streamed = await client.POST('/v1/audio/speech', { body, parseAs: 'stream' });
export type Streamed = Expect<Equal<typeof streamed.data, Response['body'] | undefined>>;

const blob = await client.POST('/v1/audio/speech', { body, parseAs: 'blob' });
export type Blobbed = Expect<Equal<typeof blob.data, Blob | undefined>>;

// The error keeps its body's type whatever the success is parsed as.
if (whole.error) {
  const { error } = whole.error;
  const message: string = error.message;
  void message;
  // @ts-expect-error the generic family has no such field
  void error.detail;
}

// Bytes are a plain string in the types: a class would be taken apart field by field by the client's own types.
export type Bytes = Expect<Equal<components['schemas']['AudioBytes'], string>>;

// @ts-expect-error the text is required
await client.POST('/v1/audio/speech', { body: { model: 'voxa-v2', voice: 'voxanna' } });

// A field with a default may be left out, and one that is not in the contract is an error where the body is closed.
await client.POST('/v1/audio/speech', { body: { ...body, speed: 1 } });
// @ts-expect-error speed is a number
await client.POST('/v1/audio/speech', { body: { ...body, speed: 'fast' } });
