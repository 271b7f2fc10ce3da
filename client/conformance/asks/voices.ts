import type { OperationId } from '../../../generated/operations.ts';
import type { Json } from '../../../openapi/tools/document.ts';
import type { World } from '../subject/world.ts';
import type { Ask } from './ask.ts';

const words = { voice_prompt: 'A deep, calm voice.', preview_text: 'Hello there.' };

/** Each service: how it designs a voice, and how it names what is done with one. */
const services = [
  {
    model: 'voice-enrollment',
    design: { action: 'create_voice', target_model: 'voxa-v3.5-flash', prefix: 'conform', ...words },
    id: 'voice_id',
    actions: ['query_voice', 'delete_voice'],
  },
  {
    model: 'alpha-voice-design',
    design: {
      action: 'create',
      target_model: 'alpha3-tts-vd-2026-01-26',
      preferred_name: 'conform',
      ...words,
    },
    id: 'voice',
    actions: ['query', 'delete'],
  },
] as const;

/** The life of a designed voice; it is deleted again. */
export const voiceSuccesses: Partial<Record<OperationId, (world: World) => Ask[]>> = {
  customizeVoice: ({ things }) =>
    services.flatMap(({ model, design, id, actions }) => {
      let voice: Promise<Json> | undefined;
      const made = () => {
        voice ??= things.made('customizeVoice', { model, input: design }).then((answer) => {
          const { output } = answer as { output: { [field: string]: Json } };
          return output[id] ?? '';
        });
        return voice;
      };
      return actions.map((action) => ({
        name: `200 ${action} of a designed voice`,
        status: 200,
        variation: async () => ({ body: { model, input: { action, [id]: await made() } } }),
      }));
    }),
};
