import { invalid } from '../../failure.ts';
import type { Handler } from '../../http/handler.ts';
import { requireProtocol } from '../../models/catalogue.ts';
import { answerNatively } from './native-answer.ts';
import { modelFor, speak } from './speak.ts';

/** The alpha HTTP models and the beta models on their own route; body, events and refusals are the provider's. */
export const generateMultimodalSpeech: Handler<'generateMultimodalSpeech'> = async (request, reply) => {
  const { body } = request;
  const model = modelFor(request, body.model);
  requireProtocol(model, 'multimodal');
  const { input } = body;
  const beta = model.family === 'beta';
  // An id that only looks like a beta one has passed the contract without the voice that others need.
  const voice = beta ? (input.voice_setting?.voice_id ?? '') : (input.voice ?? '');
  if (beta && voice === '' && input.action === undefined && (input.timbre_weights ?? []).length === 0) {
    throw invalid('input.voice_setting.voice_id', 'is required without timbre_weights.');
  }
  await speak(
    request,
    {
      operation: 'generateMultimodalSpeech',
      model,
      speech: {
        text: input.text,
        voice,
        instructions: input.instructions,
        optimizeInstructions: input.optimize_instructions ?? false,
        fields: {
          text: 'input.text',
          voice: beta ? 'input.voice_setting.voice_id' : 'input.voice',
          instructions: 'input.instructions',
          optimizeInstructions: 'input.optimize_instructions',
        },
      },
      ssml: false,
      native: { route: 'multimodal', body: { ...body, input: { ...input } } },
      events: request.headers['x-native-sse'] === 'enable',
    },
    answerNatively(reply, model),
  );
};
