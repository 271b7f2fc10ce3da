import type { CatalogueModel } from '../../../generated/catalogue.ts';
import { respondNatively } from '../../calls/speech/native-response.ts';
import { modelFor, type SpeechJob, speak } from '../../calls/speech/speak.ts';
import type { Handler, OperationRequest, Reply } from '../../http/handler.ts';
import { invalid } from '../../lib/failure.ts';
import { quoted, requireProtocol, systemVoices } from '../../models/catalogue.ts';
import { voicesIn } from '../../providers/native/voice-fields.ts';
import { findVoice } from '../../store/queries/voices.ts';
import { persist } from '../../store/store.ts';

/** Speaks with an alpha or beta model on its native route. Body, events and rejections are the provider's own. */
export const generateMultimodalSpeech: Handler<'generateMultimodalSpeech'> = async (request, reply) => {
  const job = multimodalSpeechOf(request);
  const { model, events } = job;
  if (job.atMostOnce === true) {
    const { voice_id: voiceId = '' } = request.body.input;
    await cloneVoice(request, reply, job, await voiceRecorder(request, model, voiceId));
    return;
  }
  await speak(request, reply, job, respondNatively(request, reply, { model, events }));
};

/** Translates a request for its model. Only a clone of a voice must not run twice. */
export function multimodalSpeechOf(request: Request): SpeechJob {
  const { body } = request;
  const model = modelFor(request, body.model);
  requireProtocol(model, 'multimodal');
  const { input } = body;
  const isBeta = model.family === 'beta';
  // The contract requires a voice only for ids that do not look like a beta model.
  const voice = isBeta ? (input.voice_setting?.voice_id ?? '') : (input.voice ?? '');
  if (isBeta && voice === '' && input.action === undefined && (input.timbre_weights ?? []).length === 0) {
    throw invalid('input.voice_setting.voice_id', 'is required without timbre_weights.');
  }
  const fields = {
    text: 'input.text',
    voice: isBeta ? 'input.voice_setting.voice_id' : 'input.voice',
    instructions: 'input.instructions',
    optimizeInstructions: 'input.optimize_instructions',
  };
  const isClone = isBeta && input.action !== undefined;
  // The client chooses the id of a new voice.
  const chosen = isClone ? ['input.voice_id'] : [];
  const events = !isClone && request.headers['x-native-sse'] === 'enable';
  return {
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
    atMostOnce: isClone,
  };
}

/** Continues if the client disconnects, because the provider may have created the voice. */
function cloneVoice(
  request: Request,
  reply: Reply<'generateMultimodalSpeech'>,
  job: SpeechJob,
  storeVoice: StoreVoice,
): Promise<void> {
  return request.gateway.detachedCalls.run((signal) => {
    const respond = respondNatively(request, reply, { model: job.model, events: false, storeVoice });
    const detached: Request = { ...request, signal };
    return speak(detached, reply, job, respond);
  });
}

type StoreVoice = (channel: string) => Promise<void>;
type Request = OperationRequest<'generateMultimodalSpeech'>;

/**
 * Returns a function that stores a cloned beta voice for the caller, the model and its channel.
 *
 * @throws Failure 400 when any user has a voice with this id
 */
async function voiceRecorder(
  { gateway, caller }: Request,
  model: CatalogueModel,
  voiceId: string,
): Promise<StoreVoice> {
  const taken = invalid('input.voice_id', `${quoted(voiceId)} is taken; choose another id.`);
  const isSystemVoice = systemVoices(model).some(({ id }) => id === voiceId);
  if (isSystemVoice || (await findVoice(gateway.store.read, voiceId)) !== undefined) throw taken;
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
