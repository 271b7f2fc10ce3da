import { respondNatively } from '../../calls/speech/native-response.ts';
import { modelFor, type SpeechJob, speak } from '../../calls/speech/speak.ts';
import type { Handler, OperationRequest } from '../../http/handler.ts';
import { requireProtocol } from '../../models/catalogue.ts';
import { voicesIn } from '../../providers/native/voice-fields.ts';

/** Speaks with a voxa or alpha-audio model on its native route. Body, events and rejections are the provider's own. */
export const synthesizeSpeech: Handler<'synthesizeSpeech'> = async (request, reply) => {
  const job = synthesisOf(request);
  const { model, events } = job;
  await speak(request, reply, job, respondNatively(request, reply, { model, events }));
};

/** Translates a request for its model. */
export function synthesisOf(request: OperationRequest<'synthesizeSpeech'>): SpeechJob {
  const { body } = request;
  const model = modelFor(request, body.model);
  requireProtocol(model, 'synthesizer');
  const { text, voice, enable_ssml: ssml = false } = body.input;
  const fields = {
    text: 'input.text',
    voice: 'input.voice',
    instructions: 'input.instruction',
    optimizeInstructions: '',
  };
  const events = request.headers['x-native-sse'] === 'enable';
  return {
    operation: 'synthesizeSpeech',
    model,
    speech: { text, voice, instructions: body.input.instruction, optimizeInstructions: false, fields },
    ssml,
    native: { route: 'synthesizer', body: { ...body, input: { ...body.input } } },
    events,
    voices: voicesIn('synthesizer', body, [fields.voice]),
  };
}
