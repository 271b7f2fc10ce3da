import type { Handlers } from '../http/handler.ts';
import { auditBooks } from './admin/auditBooks.ts';
import { cancelTask } from './admin/cancelTask.ts';
import { createUser } from './admin/createUser.ts';
import { createUserToken } from './admin/createUserToken.ts';
import { disableChannel } from './admin/disableChannel.ts';
import { enableChannel } from './admin/enableChannel.ts';
import { explainCharge } from './admin/explainCharge.ts';
import { exportLogs } from './admin/exportLogs.ts';
import { grantQuota } from './admin/grantQuota.ts';
import { listChanges } from './admin/listChanges.ts';
import { listChannels } from './admin/listChannels.ts';
import { listGroups } from './admin/listGroups.ts';
import { listUsers } from './admin/listUsers.ts';
import { refundCall } from './admin/refundCall.ts';
import { reloadConfiguration } from './admin/reloadConfiguration.ts';
import { resendDelivery } from './admin/resendDelivery.ts';
import { revokeToken } from './admin/revokeToken.ts';
import { searchDeliveries } from './admin/searchDeliveries.ts';
import { searchTasks } from './admin/searchTasks.ts';
import { searchTokens } from './admin/searchTokens.ts';
import { settleTask } from './admin/settleTask.ts';
import { showFigures } from './admin/showFigures.ts';
import { testChannel } from './admin/testChannel.ts';
import { updateToken } from './admin/updateToken.ts';
import { updateUser } from './admin/updateUser.ts';
import { getAsset } from './assets/getAsset.ts';
import { uploadAsset } from './assets/uploadAsset.ts';
import { createEmbedding } from './embeddings/createEmbedding.ts';
import { fetchImageJob } from './images/fetchImageJob.ts';
import { listImageJobs } from './images/listImageJobs.ts';
import { submitImageAction } from './images/submitImageAction.ts';
import { submitImageModal } from './images/submitImageModal.ts';
import { submitImagine } from './images/submitImagine.ts';
import { searchLogs } from './logs/searchLogs.ts';
import { countMessageTokens } from './messages/countMessageTokens.ts';
import { createMessage } from './messages/createMessage.ts';
import { getModel } from './models/getModel.ts';
import { listModels } from './models/listModels.ts';
import { createModel3d } from './models3d/createModel3d.ts';
import { createMusic } from './music/createMusic.ts';
import { fetchMusicTask } from './music/fetchMusicTask.ts';
import { fetchMusicTasks } from './music/fetchMusicTasks.ts';
import { getClip } from './music/getClip.ts';
import { getClipTiming } from './music/getClipTiming.ts';
import { getClipWav } from './music/getClipWav.ts';
import { getMusic } from './music/getMusic.ts';
import { submitLyrics } from './music/submitLyrics.ts';
import { submitMusic } from './music/submitMusic.ts';
import { openInferenceSocket } from './realtime/openInferenceSocket.ts';
import { openRealtimeSocket } from './realtime/openRealtimeSocket.ts';
import { getAsyncApiDocument } from './service/getAsyncApiDocument.ts';
import { getDocs } from './service/getDocs.ts';
import { getDocsFile } from './service/getDocsFile.ts';
import { getFile } from './service/getFile.ts';
import { getHealth } from './service/getHealth.ts';
import { getHomePage } from './service/getHomePage.ts';
import { getOpenApiDocument } from './service/getOpenApiDocument.ts';
import { getReadiness } from './service/getReadiness.ts';
import { createSpeech } from './speech/createSpeech.ts';
import { generateMultimodalSpeech } from './speech/generateMultimodalSpeech.ts';
import { synthesizeSpeech } from './speech/synthesizeSpeech.ts';
import { createToken } from './tokens/createToken.ts';
import { deleteToken } from './tokens/deleteToken.ts';
import { listTokens } from './tokens/listTokens.ts';
import { createVerificationSession } from './verification/createVerificationSession.ts';
import { getVerificationSession } from './verification/getVerificationSession.ts';
import { cancelNativeTask } from './video/cancelNativeTask.ts';
import { createGenericVideo } from './video/createGenericVideo.ts';
import { createNativeVideo } from './video/createNativeVideo.ts';
import { createOfficialVideo } from './video/createOfficialVideo.ts';
import { createVideo } from './video/createVideo.ts';
import { deleteOfficialVideo } from './video/deleteOfficialVideo.ts';
import { deleteVideo } from './video/deleteVideo.ts';
import { downloadVideoContent } from './video/downloadVideoContent.ts';
import { getGenericVideo } from './video/getGenericVideo.ts';
import { getNativeTask } from './video/getNativeTask.ts';
import { getOfficialVideo } from './video/getOfficialVideo.ts';
import { getVideo } from './video/getVideo.ts';
import { listOfficialVideos } from './video/listOfficialVideos.ts';
import { listVideos } from './video/listVideos.ts';
import { customizeVoice } from './voices/customizeVoice.ts';

/** Every operation of the contract with its handler. Leaving one out does not compile. */
export const handlers: Handlers = {
  createSpeech,
  synthesizeSpeech,
  generateMultimodalSpeech,
  customizeVoice,
  openInferenceSocket,
  openRealtimeSocket,
  createGenericVideo,
  getGenericVideo,
  createVideo,
  listVideos,
  getVideo,
  deleteVideo,
  downloadVideoContent,
  createNativeVideo,
  getNativeTask,
  cancelNativeTask,
  createOfficialVideo,
  listOfficialVideos,
  getOfficialVideo,
  deleteOfficialVideo,
  createModel3d,
  uploadAsset,
  getAsset,
  submitMusic,
  submitLyrics,
  fetchMusicTask,
  fetchMusicTasks,
  getClip,
  getClipWav,
  getClipTiming,
  createMusic,
  getMusic,
  submitImagine,
  submitImageModal,
  submitImageAction,
  fetchImageJob,
  listImageJobs,
  createEmbedding,
  createMessage,
  countMessageTokens,
  createToken,
  listTokens,
  deleteToken,
  searchLogs,
  createVerificationSession,
  getVerificationSession,
  listModels,
  getModel,
  listUsers,
  createUser,
  updateUser,
  listGroups,
  searchTokens,
  createUserToken,
  updateToken,
  grantQuota,
  explainCharge,
  refundCall,
  revokeToken,
  listChanges,
  reloadConfiguration,
  searchTasks,
  cancelTask,
  settleTask,
  searchDeliveries,
  resendDelivery,
  auditBooks,
  exportLogs,
  showFigures,
  listChannels,
  testChannel,
  enableChannel,
  disableChannel,
  getFile,
  getDocs,
  getDocsFile,
  getHealth,
  getHomePage,
  getReadiness,
  getOpenApiDocument,
  getAsyncApiDocument,
};
