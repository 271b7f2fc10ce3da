import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NextFunction, Request, Response } from 'express';
import type { OperationId } from '../../generated/operations.ts';

/**
 * Operations whose responses depend on the content of the request or on earlier requests. Their handlers run on a gateway
 * with its sandbox, so that the mock needs no second implementation.
 */
export const backedOperations: ReadonlySet<OperationId> = new Set<OperationId>([
  'listModels',
  'getModel',
  'createEmbedding',
  'createMessage',
  'countMessageTokens',
  'createToken',
  'listTokens',
  'deleteToken',
  'searchLogs',
  'getMe',
  'getMyUsage',
  'listMyLog',
  'listMyPrices',
  'listMyStatements',
  'getMyStatement',
  'listUserStatements',
  'getUserStatement',
  'listMyAccounts',
  'listMyMembers',
  'createMyMember',
  'updateMyMember',
  'deleteMyMember',
  'listUserMembers',
  'createUserMember',
  'updateUserMember',
  'deleteUserMember',
  'createUser',
  'listUsers',
  'getUser',
  'updateUser',
  'createUserToken',
  'searchTokens',
  'updateToken',
  'revokeToken',
  'grantQuota',
  'openWallet',
  'getWallet',
  'grantToWallet',
  'listWalletGrants',
  'listChanges',
  'explainPrice',
]);

/** A gateway with its sandbox, in a temporary folder. Starts with the first request. Every request has the same key. */
export class BackingGateway {
  #started: ReturnType<typeof start> | undefined;

  /** Runs the handler of the operation. The body must be validated. */
  async handle(request: Request, response: Response, next: NextFunction): Promise<void> {
    this.#started ??= start();
    const { dispatch, caller } = await this.#started;
    request.context.caller = caller;
    dispatch(request, response, next);
  }

  async close(): Promise<void> {
    await (await this.#started)?.close();
  }
}

/** Loads the gateway's code late, so that the mock starts fast. */
async function start() {
  const [{ openGateway }, { dispatch }, { handlers }, { readSettings }, { generateKey }, { createLogger }] =
    await Promise.all([
      import('../../server/app/open-gateway.ts'),
      import('../../server/http/reply.ts'),
      import('../../server/operations/registry.ts'),
      import('../../server/settings/settings.ts'),
      import('../../server/store/keys.ts'),
      import('../../server/telemetry/logger.ts'),
    ]);
  const dataDir = await mkdtemp(join(tmpdir(), 'unigate-mock-'));
  const removeFolder = () => rm(dataDir, { recursive: true, force: true });
  try {
    const key = generateKey();
    const settings = readSettings({ BOOTSTRAP_KEY: key, DATA_DIR: dataDir });
    const { gateway, stop } = await openGateway(settings, createLogger('silent'));
    const caller = await gateway.keys.authenticate(key, '');
    const close = async () => {
      await stop();
      await removeFolder();
    };
    return { dispatch: dispatch(gateway, handlers), caller, close };
  } catch (error) {
    await removeFolder();
    throw error;
  }
}
