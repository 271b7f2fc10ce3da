import type { CatalogueModel } from '../../../generated/catalogue.ts';
import { respondNatively } from '../../calls/speech/native-response.ts';
import { modelFor, type SpeechJob, speak } from '../../calls/speech/speak.ts';
import type { Handler, OperationRequest, Reply } from '../../http/handler.ts';
import { invalid } from '../../lib/failure.ts';
import { quoted, requireProtocol, systemVoices } from '../../models/catalogue.ts';
import { voicesIn } from '../../providers/native/voice-fields.ts';
import { findVoice } from '../../store/queries/voices.ts';
import { persist } from '../../store/store.ts';

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
  const fields = {
    text: 'input.text',
    voice: beta ? 'input.voice_setting.voice_id' : 'input.voice',
    instructions: 'input.instructions',
    optimizeInstructions: 'input.optimize_instructions',
  };
  const clones = beta && input.action !== undefined;
  // The id of a new voice is the client's choice.
  const chosen = clones ? ['input.voice_id'] : [];
  const events = !clones && request.headers['x-native-sse'] === 'enable';
  const job: SpeechJob = {
    operation: 'generateMultimodalSpeech',
    model,
    speech: {
      text: input.text,
      voice,
      instructions: input.instructions,
      optimizeInstructions: input.optimize_instructions ?? false,
      fields,
    },
    ssml: false,
    native: { route: 'multimodal', body: { ...body, input: { ...input } } },
    events,
    voices: voicesIn('multimodal', body, [fields.voice, ...chosen]),
    atMostOnce: clones,
  };
  if (clones) {
    await clone(request, reply, job, await cloning(request, model, input.voice_id ?? ''));
    return;
  }
  await speak(request, reply, job, respondNatively(request, reply, { model, events }));
};

/** Goes on when the client leaves: the voice may have been made by then. */
function clone(
  request: Request,
  reply: Reply<'generateMultimodalSpeech'>,
  job: SpeechJob,
  keepVoice: KeepVoice,
): Promise<void> {
  return request.gateway.detachedCalls.run((signal) => {
    const answer = respondNatively(request, reply, {
      model: job.model,
      events: false,
      storeVoice: keepVoice,
    });
    const lasting: Request = { ...request, signal };
    return speak(lasting, reply, job, answer);
  });
}

type KeepVoice = (channel: string) => Promise<void>;
type Request = OperationRequest<'generateMultimodalSpeech'>;

/**
 * What to note when a beta voice has been cloned: it belongs to the caller, the model and the channel.
 *
 * @throws Failure 400 when the id is taken, whoever has it.
 */
async function cloning(
  { gateway, caller }: Request,
  model: CatalogueModel,
  voiceId: string,
): Promise<KeepVoice> {
  const taken = invalid('input.voice_id', `${quoted(voiceId)} is taken; choose another id.`);
  const system = systemVoices(model).some(({ id }) => id === voiceId);
  if (system || (await findVoice(gateway.store.read, voiceId)) !== undefined) throw taken;
  return async (channel) => {
    const now = gateway.clock();
    const saved = await persist(gateway.store, 'saveVoice', {
      voice_id: voiceId,
      user_id: caller.userId,
      token_id: caller.tokenId,
      service: 'voice_clone',
      target_model: model.id,
      channel,
      status: 'OK',
      name: voiceId,
      facts: '{}',
      created_at: now,
      updated_at: now,
    });
    if (!saved) throw taken;
  };
}
