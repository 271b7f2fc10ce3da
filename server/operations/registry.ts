import type { Handlers } from '../http/handler.ts';
import { listModels } from './models/listModels.ts';
import { notImplemented } from './not-implemented.ts';
import { openInferenceSocket } from './realtime/openInferenceSocket.ts';
import { openRealtimeSocket } from './realtime/openRealtimeSocket.ts';
import { getAsyncApiDocument } from './service/getAsyncApiDocument.ts';
import { getHealth } from './service/getHealth.ts';
import { getOpenApiDocument } from './service/getOpenApiDocument.ts';
import { getReadiness } from './service/getReadiness.ts';
import { createSpeech } from './speech/createSpeech.ts';
import { generateMultimodalSpeech } from './speech/generateMultimodalSpeech.ts';
import { synthesizeSpeech } from './speech/synthesizeSpeech.ts';
import { customizeVoice } from './voices/customizeVoice.ts';

/** Every operation of the contract with its handler. Leaving one out does not compile. */
export const handlers: Handlers = {
  createSpeech,
  synthesizeSpeech,
  generateMultimodalSpeech,
  customizeVoice,
  openInferenceSocket,
  openRealtimeSocket,
  createVideoGeneration: notImplemented,
  getVideoGeneration: notImplemented,
  createVideo: notImplemented,
  listVideos: notImplemented,
  getVideo: notImplemented,
  deleteVideo: notImplemented,
  downloadVideoContent: notImplemented,
  synthesizeVideo: notImplemented,
  getNativeTask: notImplemented,
  cancelNativeTask: notImplemented,
  createOfficialTask: notImplemented,
  listOfficialTasks: notImplemented,
  getOfficialTask: notImplemented,
  deleteOfficialTask: notImplemented,
  createModel3d: notImplemented,
  uploadAsset: notImplemented,
  getAsset: notImplemented,
  submitMusic: notImplemented,
  submitLyrics: notImplemented,
  fetchMusicTask: notImplemented,
  fetchMusicTasks: notImplemented,
  getClip: notImplemented,
  getClipWav: notImplemented,
  getClipTiming: notImplemented,
  createMusic: notImplemented,
  getMusic: notImplemented,
  submitImageModal: notImplemented,
  submitImageAction: notImplemented,
  fetchImageJob: notImplemented,
  listImageJobs: notImplemented,
  createEmbedding: notImplemented,
  createMessage: notImplemented,
  countMessageTokens: notImplemented,
  createToken: notImplemented,
  listTokens: notImplemented,
  deleteToken: notImplemented,
  searchLogs: notImplemented,
  createVerificationSession: notImplemented,
  getVerificationSession: notImplemented,
  listModels,
  getHealth,
  getReadiness,
  getOpenApiDocument,
  getAsyncApiDocument,
};
