import type { OperationId } from '../../../generated/operations.ts';
import type { Json } from '../../../openapi/tools/document.ts';
import type { RunContext } from '../context/run-context.ts';
import type { Scenario } from './scenario.ts';

const words = { voice_prompt: 'A deep, calm voice.', preview_text: 'Hello there.' };

/** Voice design of each service, with the names of its fields and actions. */
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

/** Creates, queries and deletes a designed voice. */
export const voiceScenarios: Partial<Record<OperationId, (context: RunContext) => Scenario[]>> = {
  customizeVoice: ({ fixtures }) =>
    services.flatMap(({ model, design, id, actions }) => {
      let voice: Promise<Json> | undefined;
      const designedVoice = () => {
        voice ??= fixtures.create('customizeVoice', { model, input: design }).then((body) => {
          const { output } = body as { output: { [field: string]: Json } };
          return output[id] ?? '';
        });
        return voice;
      };
      return actions.map((action) => ({
        name: `200 ${action} of a designed voice`,
        status: 200,
        variation: async () => ({ body: { model, input: { action, [id]: await designedVoice() } } }),
      }));
    }),
};
