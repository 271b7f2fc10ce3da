import type { DocumentedOperation } from '../contract/documented.ts';
import { seedRequests } from '../limits/seed-requests.ts';
import type { Variation } from '../wire/exchange.ts';

/** Valid requests for operations whose first documented request refers to a resource that may not exist. */
const validRequests: Readonly<Record<string, Variation>> = {
  customizeVoice: {
    body: {
      model: 'voice-enrollment',
      input: {
        action: 'create_voice',
        target_model: 'voxa-v3.5-flash',
        prefix: 'conform',
        voice_prompt: 'A deep, calm voice.',
        preview_text: 'Hello there.',
      },
    },
  },
  submitMusic: { body: { prompt: 'A slow song about the sea' } },
  submitImagine: { body: { prompt: 'a harbour' } },
  submitImageAction: { change: { notifyHook: undefined } },
  uploadAsset: { body: { url: 'https://files.example/cat.png', asset_type: 'Image', name: 'conformance' } },
};

/** Returns a request of the operation that every server accepts. */
export function validRequest({ id, aliasOf = id }: DocumentedOperation): Variation {
  const own = validRequests[aliasOf];
  if (own !== undefined) return own;
  const [body] = seedRequests[`${aliasOf} application/json`] ?? [];
  return body === undefined ? {} : { body };
}
