// The types that a typed client returns for bytes. Nothing here runs: `tsc` checks it.
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

// The type of the error body does not depend on `parseAs`.
if (whole.error) {
  const { error } = whole.error;
  const message: string = error.message;
  void message;
  // @ts-expect-error the generic family has no such field
  void error.detail;
}

// Bytes have the type string, because openapi-fetch would map the members of a class one by one.
export type Bytes = Expect<Equal<components['schemas']['AudioBytes'], string>>;

// @ts-expect-error the text is required
await client.POST('/v1/audio/speech', { body: { model: 'voxa-v2', voice: 'voxanna' } });

// A field with a default is optional.
await client.POST('/v1/audio/speech', { body: { ...body, speed: 1 } });
// @ts-expect-error speed is a number
await client.POST('/v1/audio/speech', { body: { ...body, speed: 'fast' } });
