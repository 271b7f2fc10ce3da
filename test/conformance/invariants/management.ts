import {
  atMost,
  chronological,
  complete,
  each,
  equal,
  filled,
  type Invariants,
  justNow,
  masked,
  ordered,
  past,
  sameAsPath,
  sameAsRequest,
  sum,
  totalOf,
  unique,
} from './vocabulary.ts';

/** A list with entries in `data.items` and their number in `data.total`, newest first. */
const newestFirst = [
  ordered('data.items[].id', 'descending'),
  unique('data.items[].id'),
  totalOf('data.total', 'data.items'),
];

const keys = [masked('data.items[].key'), past('data.items[].created_time', 's')];

const createdKey = [
  complete('data.key'),
  justNow('data.created_time', 's'),
  sameAsRequest('data.name', 'name'),
];

const changedKey = [masked('data.key'), sameAsPath('data.id', 'id')];

export const management: Invariants<
  | 'listTokens'
  | 'createToken'
  | 'searchLogs'
  | 'getMe'
  | 'listMyTasks'
  | 'getMyTask'
  | 'getTask'
  | 'listModels'
  | 'getModel'
  | 'getAsset'
  | 'createVerificationSession'
  | 'getVerificationSession'
  | 'listUsers'
  | 'createUser'
  | 'getUser'
  | 'updateUser'
  | 'createUserToken'
  | 'searchTokens'
  | 'updateToken'
  | 'grantQuota'
  | 'listChanges'
  | 'searchTasks'
  | 'showFigures'
  | 'getMyUsage'
  | 'listMyLog'
  | 'listMyPrices'
  | 'explainCharge'
  | 'refundCall'
> = {
  listTokens: [...newestFirst, ...keys],
  createToken: createdKey,
  searchLogs: [
    ...newestFirst,
    past('data.items[].created_at', 's'),
    each('data.items[]', [atMost('', 'refunded', 'quota')]),
  ],
  getMe: [
    masked('data.key.key'),
    past('data.key.created_time', 's'),
    unique('data.models[]'),
    unique('data.scopes[]'),
  ],
  listMyTasks: [
    ordered('data.items[].created_at', 'descending'),
    unique('data.items[].id'),
    past('data.items[].created_at', 's'),
    each('data.items[]', [chronological('', 's', 'created_at', 'started_at', 'completed_at')]),
  ],
  getMyTask: [
    sameAsPath('data.id', 'id'),
    past('data.created_at', 's'),
    chronological('data', 's', 'created_at', 'started_at', 'completed_at'),
    ordered('data.timeline[].at', 'ascending'),
    equal('data', 'charged', 'charge.charged'),
  ],
  getTask: [
    sameAsPath('data.id', 'id'),
    past('data.created_at', 's'),
    ordered('data.timeline[].at', 'ascending'),
  ],
  listModels: [
    unique('data[].id'),
    past('data[].created', 's'),
    past('data[].created_at', 'date'),
    filled('data'),
  ],
  getModel: [sameAsPath('id', 'model'), past('created', 's'), past('created_at', 'date')],
  getAsset: [
    sameAsPath('data.Id', 'id'),
    past('data.CreateTime', 'date'),
    past('data.UpdateTime', 'date'),
    chronological('data', 'date', 'CreateTime', 'UpdateTime'),
  ],
  createVerificationSession: [
    justNow('data.created_at', 'date'),
    sameAsRequest('data.callback_url', 'callback_url'),
    filled('data.h5_link'),
    chronological('data', 'date', 'created_at', 'updated_at', 'expires_at'),
  ],
  getVerificationSession: [
    sameAsPath('data.session_id', 'session_id'),
    past('data.created_at', 'date'),
    chronological('data', 'date', 'created_at', 'updated_at'),
  ],
  listUsers: [...newestFirst, past('data.items[].created_time', 's')],
  createUser: [justNow('data.created_time', 's'), sameAsRequest('data.name', 'name')],
  getUser: [sameAsPath('data.id', 'id'), past('data.created_time', 's')],
  updateUser: [sameAsPath('data.id', 'id')],
  createUserToken: createdKey,
  searchTokens: [...newestFirst, ...keys],
  updateToken: changedKey,
  grantQuota: [
    sameAsPath('data.token_id', 'id'),
    sameAsRequest('data.amount', 'amount'),
    justNow('data.created_at', 's'),
  ],
  listChanges: [...newestFirst, past('data.items[].created_at', 's')],
  searchTasks: [
    ordered('data.items[].created_at', 'descending'),
    unique('data.items[].id'),
    totalOf('data.total', 'data.items'),
    past('data.items[].created_at', 's'),
    each('data.items[]', [chronological('', 's', 'created_at', 'started_at', 'completed_at')]),
  ],
  showFigures: [sum('data', 'sum.requests', 'items[].requests'), sum('data', 'sum.quota', 'items[].quota')],
  getMyUsage: [sum('data', 'sum.requests', 'items[].requests'), sum('data', 'sum.quota', 'items[].quota')],
  listMyLog: [
    ordered('data.items[].id', 'descending'),
    unique('data.items[].id'),
    past('data.items[].created_at', 's'),
    each('data.items[]', [atMost('', 'refunded', 'quota')]),
  ],
  listMyPrices: [ordered('data.items[].model', 'ascending'), unique('data.items[].model')],
  explainCharge: [past('data.entry.created_at', 's'), equal('data', 'calculated', 'entry.quota')],
  refundCall: [justNow('data.created_at', 's'), atMost('data', 'amount', 'charged')],
};
