export type * as events from '../generated/events.ts';
export type { components, operations, paths } from '../generated/http.ts';
export { type OperationId, operations as operationTable } from '../generated/operations.ts';
export type {
  Admin,
  Audit,
  ConformanceEvent,
  ConformanceRequest,
  Figures,
  FiguresQuery,
  Release,
  Reload,
  ReloadQuery,
} from './admin/admin.ts';
export type { AdminCharges, Charge, NewRefund, Refund } from './admin/admin-charges.ts';
export type {
  AdminDeliveries,
  AdminDelivery,
  AdminDeliveryPage,
  AdminDeliveryQuery,
} from './admin/admin-deliveries.ts';
export type { AdminEndpointRequest, AdminEndpoints, AdminEndpointUpdate } from './admin/admin-endpoints.ts';
export type { AdminLogs, ExportedEntry, LogExportQuery } from './admin/admin-logs.ts';
export type {
  AdminTask,
  AdminTaskDetails,
  AdminTaskPage,
  AdminTaskQuery,
  AdminTasks,
  TaskSettlement,
} from './admin/admin-tasks.ts';
export type {
  AdminToken,
  AdminTokenPage,
  AdminTokenQuery,
  AdminTokens,
  Grant,
  NewGrant,
  NewUserToken,
  TokenChange,
} from './admin/admin-tokens.ts';
export type {
  Budget,
  BudgetPage,
  BudgetQuery,
  BudgetRequest,
  Budgets,
  BudgetUpdate,
} from './admin/budgets.ts';
export type { Change, ChangePage, ChangeQuery, Changes } from './admin/changes.ts';
export type { Channel, ChannelPage, ChannelQuery, Channels, ChannelTest } from './admin/channels.ts';
export type { Group, GroupPage, GroupQuery, Groups } from './admin/groups.ts';
export type {
  ExplainPriceRequest,
  PriceCheck,
  PriceExplanation,
  PriceProblem,
  Prices,
} from './admin/prices.ts';
export type {
  NewWalletGrant,
  UserWallets,
  Wallet,
  WalletGrant,
  WalletGrantPage,
  WalletGrantQuery,
} from './admin/user-wallets.ts';
export type { NewUser, User, UserChange, UserPage, UserQuery, Users } from './admin/users.ts';
export type { ActiveAsset, Asset, AssetOptions, Assets, AssetUpload } from './assets.ts';
export { BinaryResponse } from './binary-response.ts';
export type {
  CallArguments,
  CallableOperation,
  CallInit,
  CallOptions,
  CallResult,
  OperationData,
} from './call.ts';
export type { Callback, CallbackPage, CallbackQuery, Callbacks } from './callbacks.ts';
export {
  type DeliveredEvent,
  type DeliveredTask,
  type Delivery,
  DeliveryError,
  type ReceivedHeaders,
  type VerifyOptions,
  verifyDelivery,
  verifyEvent,
} from './deliveries.ts';
export type {
  EmbeddingFormat,
  EmbeddingList,
  EmbeddingListReply,
  EmbeddingRequest,
  Embeddings,
} from './embeddings.ts';
export type {
  Endpoint,
  EndpointList,
  EndpointRequest,
  Endpoints,
  EndpointUpdate,
  EndpointWithSecret,
  EventDelivery,
  EventDeliveryPage,
  EventDeliveryQuery,
  SecretRotation,
} from './endpoints.ts';
export * from './errors.ts';
export { EventStream, parseEvents, type ServerSentEvent } from './event-stream.ts';
export { type AmountDisplay, formatAmount } from './format-amount.ts';
export type { ImageJob, ImageJobs, PressOptions, SucceededImageJob } from './image-jobs.ts';
export type { InferenceConnection } from './inference/inference-connection.ts';
export type { InferenceTask, InferenceTaskOptions } from './inference/inference-task.ts';
export type { LogFields, Logger } from './logger.ts';
export type { LogItem, LogPage, LogQuery, Logs } from './logs.ts';
export type { Me, MeReply, MyPrices, Usage, UsageQuery } from './me.ts';
export type { Message, MessageEvent, MessagePrompt, MessageRequest, Messages } from './messages.ts';
export type { AnyModel, ModelId } from './model-ids.ts';
export type { Model, Models, ModelVoice } from './models.ts';
export type {
  ClipTiming,
  Lyrics,
  LyricsTask,
  Music,
  MusicRequest,
  MusicTask,
  Song,
  SucceededLyricsTask,
  SucceededMusicTask,
} from './music.ts';
export type { Account, AccountChange, MyAccounts, NewAccount, NewAccountToken } from './my-accounts.ts';
export type { MyLog, MyLogEntry, MyLogPage, MyLogQuery } from './my-log.ts';
export type { Member, MemberChange, MyMembers, NewMember } from './my-members.ts';
export type { MyStatements, OfAccount, Statement, StatementFile, StatementMonth } from './my-statements.ts';
export type { MyTask, MyTaskDetails, MyTaskPage, MyTaskQuery, MyTasks } from './my-tasks.ts';
export type {
  GammaVideoRequest,
  Model3dRequest,
  Models3d,
  NativeTask,
  NativeVideos,
  SucceededNativeTask,
} from './native-tasks.ts';
export type {
  OfficialTask,
  OfficialTaskListQuery,
  OfficialTaskPage,
  OfficialTaskRequest,
  OfficialVideos,
  SucceededOfficialTask,
} from './official-videos.ts';
export { PagePromise } from './page-promise.ts';
export type { RealtimeSession } from './realtime/realtime-session.ts';
export { requestIdOf } from './request-id.ts';
export type { Health, Service } from './service.ts';
export type { SocketOptions } from './sockets/open-socket.ts';
export type { SpeechText } from './sockets/speak-text.ts';
export type {
  BetaSpeechReply,
  MultimodalSpeechRequest,
  NativeSpeechReply,
  Speech,
  SpeechEvent,
  SpeechRequest,
  SynthesizerRequest,
} from './speech.ts';
export { SpeechAudio } from './speech.ts';
export type { DownloadOptions, FileTasks } from './tasks/file-tasks.ts';
export type { ReceiveOptions } from './tasks/resumable-download.ts';
export type { CompletedVideo, VideoTask } from './tasks/task-protocol.ts';
export type { CreateOptions, Tasks } from './tasks/tasks.ts';
export type { TaskProgress, WaitOptions } from './tasks/wait-for-task.ts';
export type { Session, Token, TokenListQuery, TokenPage, TokenRequest, Tokens } from './tokens.ts';
export type { Fetch } from './transport.ts';
export { type HttpClient, Unigate, type UnigateOptions } from './unigate.ts';
export type {
  Verification,
  VerificationOptions,
  VerificationRequest,
  VerificationSession,
} from './verification.ts';
export type {
  CompletedGeneration,
  VideoGenerationReply,
  VideoGenerationRequest,
  VideoGenerations,
} from './video-generations.ts';
export type { VideoListQuery, VideoPage, VideoRequest, Videos } from './videos.ts';
export type {
  CustomVoice,
  DesignedVoice,
  ListedVoice,
  VoiceClone,
  VoiceDesign,
  VoiceService,
  Voices,
} from './voices.ts';
export { wavHeader } from './wav-header.ts';
