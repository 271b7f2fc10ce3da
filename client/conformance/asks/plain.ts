import type { DocumentedOperation } from '../contract/documented.ts';
import { limitSeeds } from '../limits/limit-seeds.ts';
import type { Variation } from '../wire/exchange.ts';

/** Requests that nothing can be held against, where the first documented one names what nobody need have. */
const others: Readonly<Record<string, Variation>> = {
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

/** A request of the operation that is good as it stands. */
export function plainRequest({ id, aliasOf = id }: DocumentedOperation): Variation {
  const own = others[aliasOf];
  if (own !== undefined) return own;
  const [body] = limitSeeds[`${aliasOf} application/json`] ?? [];
  return body === undefined ? {} : { body };
}
