import { vi } from 'vitest';
import { type Call, createCalls, speechRequest } from './calls.ts';
import { Deployment } from './deployment.ts';
import { Operator } from './operator.ts';
import { type ChannelName, models, priceRules, type RateCard, salePrices, vendorRates } from './rates.ts';
import { startSpeechVendor, startTextVendor, startVideoVendor, type Vendor } from './vendors.ts';

/** The simulated month, in UTC. */
export const month = '2027-04';
export const monthStart: number = Date.parse(`${month}-01T00:00:00Z`);
const days = 30;
export const callCount = 10_000;
const concurrency = 16;

/** Days, counted from 0, on which something happens. */
export const eventDays = { kill: 9, priceChange: 15, outage: 20, refunds: 25 } as const;

/** Customers, with the ratio of their group in thousandths, and the currency in which they see amounts. */
export const organizations = [
  { name: 'Aurora', group: 'list-price', ratio: 1_000, currency: 'EUR' },
  { name: 'Borealis', group: 'partner', ratio: 850, currency: 'USD' },
  { name: 'Cirrus', group: 'small', ratio: 1_333, currency: 'EUR' },
] as const;

/** Quota that each organization pays for at the begin of the month. */
export const granted = 2_000_000_000;

/** Daily budget of each organization's key for trials, in quota. It covers some of the trial calls of a day. */
export const trialBudget = 4_000;
const trialsPerDay = 12;

interface Account {
  userId: number;
  keys: string[];
  /** A key with a hard budget. */
  trial: { id: number; key: string };
}

/** A response that a customer received. */
interface Sale {
  organization: number;
  kind: Call['kind'];
  day: number;
  requestId: string;
  status: number;
  /** Cost in the header of the response. Undefined for a task, which has no cost yet. */
  cost: number | undefined;
}

/** A refund that the operator made. */
interface Refund {
  organization: number;
  requestId: string;
  amount: number;
}

/** Everything that the month left behind. */
export interface Month {
  deployment: Deployment;
  operator: Operator;
  vendors: Readonly<Record<ChannelName, Vendor>>;
  accounts: readonly Account[];
  sales: readonly Sale[];
  refunds: readonly Refund[];
  /** Responses to the calls with the trial keys. */
  trials: readonly Sale[];
  /** Requests that a killed gateway never answered. */
  interrupted: number;
  end(): Promise<void>;
}

/** Runs the month: calls of three organizations, a price change, a killed gateway and a vendor that is down. */
export async function runMonth(seed: number): Promise<Month> {
  const vendors = {
    'speech-first': await startSpeechVendor(vendorRates['speech-first']),
    'speech-backup': await startSpeechVendor(vendorRates['speech-backup']),
    text: await startTextVendor(vendorRates.text),
    video: await startVideoVendor(vendorRates.video),
  };
  const deployment = await Deployment.create();
  const operator = new Operator(deployment.adminKey, () => deployment.urls[0] ?? '');
  const close = async () => {
    await deployment.remove();
    await Promise.all(Object.values(vendors).map((vendor) => vendor.close()));
  };
  try {
    await deployment.configure(configuration(vendors, salePrices[0]));
    await deployment.setTime(monthStart + 60_000);
    await deployment.startNode();
    await deployment.startNode();
    const accounts = await openAccounts(operator);
    const world = new Simulation(deployment, operator, vendors, accounts, createCalls(seed));
    for (let day = 0; day < days; day += 1) await world.runDay(day);
    return {
      deployment,
      operator,
      vendors,
      accounts,
      sales: world.sales,
      refunds: world.refunds,
      trials: world.trials,
      interrupted: world.interrupted,
      end: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function configuration(vendors: Readonly<Record<ChannelName, Vendor>>, prices: RateCard): object {
  const channel = (name: ChannelName, protocol: string, model: string, priority: number) => ({
    name,
    protocol,
    priority,
    base_url: vendors[name].url,
    key: 'vendor-key',
    models: [model],
    costs: priceRules(vendorRates[name]),
    private_files: true,
  });
  return {
    sandbox: false,
    groups: Object.fromEntries([
      ['default', { models: ['*'] }],
      ...organizations.map(({ group, ratio, currency }) => [
        group,
        { models: ['*'], ratio: ratio / 1_000, display: { quota_per_unit: 500_000, currency } },
      ]),
    ]),
    prices: priceRules(prices),
    channels: [
      channel('speech-first', 'native', models.speech, 10),
      channel('speech-backup', 'native', models.speech, 0),
      channel('text', 'messages', models.text, 0),
      channel('video', 'official', models.video, 0),
    ],
  };
}

/** Creates each organization with a wallet and two keys. */
function openAccounts(operator: Operator): Promise<Account[]> {
  return Promise.all(
    organizations.map(async ({ name, group }) => {
      const { id: userId } = await operator.data<{ id: number }>('POST', '/api/admin/users', { name, group });
      await operator.data('POST', `/api/admin/users/${userId}/grants`, {
        amount: granted,
        reference: `invoice ${name} ${month}`,
        reason: 'Prepaid.',
      });
      const create = (key: object) =>
        operator.data<{ id: number; key: string }>('POST', `/api/admin/users/${userId}/tokens`, key);
      const production = await create({ name: 'production', unlimited_quota: true });
      const test = await create({ name: 'test', remain_quota: granted });
      const trial = await create({ name: 'trial', unlimited_quota: true });
      const budget = { token_id: trial.id, amount: trialBudget, period: 'daily', hard: true };
      await operator.data('POST', '/api/admin/budgets', budget);
      return { userId, keys: [production.key, test.key], trial };
    }),
  );
}

class Simulation {
  readonly sales: Sale[] = [];
  readonly refunds: Refund[] = [];
  readonly trials: Sale[] = [];
  interrupted = 0;
  readonly #deployment: Deployment;
  readonly #operator: Operator;
  readonly #vendors: Readonly<Record<ChannelName, Vendor>>;
  readonly #accounts: readonly Account[];
  readonly #nextCall: () => Call;
  #made = 0;

  constructor(
    deployment: Deployment,
    operator: Operator,
    vendors: Readonly<Record<ChannelName, Vendor>>,
    accounts: readonly Account[],
    nextCall: () => Call,
  ) {
    this.#deployment = deployment;
    this.#operator = operator;
    this.#vendors = vendors;
    this.#accounts = accounts;
    this.#nextCall = nextCall;
  }

  async runDay(day: number): Promise<void> {
    await this.#deployment.setTime(monthStart + day * 86_400_000 + 43_200_000);
    if (day === eventDays.priceChange) await this.#changePrices();
    this.#vendors['speech-first'].isDown = day === eventDays.outage;
    const end = Math.round((callCount * (day + 1)) / days);
    if (day === eventDays.kill) await this.#killDuring(day);
    if (day === eventDays.refunds) await this.#refundCalls();
    const workers = Array.from({ length: concurrency }, async () => {
      while (this.#made < end) {
        this.#made += 1;
        this.sales.push(await this.#sendNext(day, this.#made));
      }
    });
    await Promise.all([...workers, this.#sendTrials(day)]);
    await this.#finishTasks();
  }

  /** Sends the next call with a key of an organization, to one of the gateways. */
  #sendNext(day: number, number: number): Promise<Sale> {
    const organization = number % this.#accounts.length;
    const keys = this.#accounts[organization]?.keys ?? [];
    return this.#send({ organization, day, number, key: keys[number % keys.length] }, this.#nextCall());
  }

  /** Sends speech calls with the trial keys at the same time, through both gateways. */
  async #sendTrials(day: number): Promise<void> {
    const text = 'How much of the budget does this sentence need? '.repeat(4);
    const call: Call = { kind: 'speech', ...speechRequest(text) };
    const sent = this.#accounts.flatMap(({ trial: { key } }, organization) =>
      Array.from({ length: trialsPerDay }, (_, number) =>
        this.#send({ organization, day, number, key }, call),
      ),
    );
    this.trials.push(...(await Promise.all(sent)));
  }

  async #send(
    { organization, day, number, key }: { organization: number; day: number; number: number; key?: string },
    { kind, path, body }: Call,
  ): Promise<Sale> {
    const { urls } = this.#deployment;
    const response = await fetch(`${urls[number % urls.length]}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'compat-version': '2023-06-01',
      },
      body: JSON.stringify(body),
    });
    await response.arrayBuffer();
    const cost = response.headers.get('x-unigate-cost');
    return {
      organization,
      kind,
      day,
      requestId: response.headers.get('x-request-id') ?? '',
      status: response.status,
      cost: cost === null ? undefined : Number(cost),
    };
  }

  /** Kills a gateway while vendors hold calls of it, and starts another one. The interrupted calls are sent again. */
  async #killDuring(day: number): Promise<void> {
    const released = Promise.withResolvers<void>();
    for (const vendor of Object.values(this.#vendors)) vendor.held = released.promise;
    const victims = 24;
    // Even numbers reach the first gateway.
    const sent = Array.from({ length: victims }, (_, index) =>
      this.#sendNext(day, 2 * index).then(
        () => false,
        () => true,
      ),
    );
    const waiting = () => Object.values(this.#vendors).reduce((sum, vendor) => sum + vendor.waiting, 0);
    await vi.waitFor(() => {
      if (waiting() < victims) throw new Error(`${waiting()} of ${victims} requests have reached a vendor`);
    });
    await this.#deployment.killNode(0);
    this.interrupted = (await Promise.all(sent)).filter((isInterrupted) => isInterrupted).length;
    // A vendor bills a request unless it sees that the gateway is gone.
    await vi.waitFor(() => {
      if (waiting() > 0) throw new Error(`${waiting()} requests still wait at a vendor`);
    });
    for (const vendor of Object.values(this.#vendors)) vendor.held = undefined;
    released.resolve();
    await this.#deployment.startNode();
  }

  async #changePrices(): Promise<void> {
    await this.#deployment.configure(configuration(this.#vendors, salePrices[1]));
    await Promise.all(
      this.#deployment.urls.map((url) =>
        new Operator(this.#deployment.adminKey, () => url).data('POST', '/api/admin/reload'),
      ),
    );
  }

  /** Refunds some calls of the first days, every second one in part. */
  async #refundCalls(): Promise<void> {
    const refundable = this.sales.filter(({ status, day }) => status === 200 && day < eventDays.priceChange);
    const chosen = refundable.filter((_sale, index) => index % 100 === 7);
    for (const [index, { requestId, organization }] of chosen.entries()) {
      const { amount } = await this.#operator.data<{ amount: number }>(
        'POST',
        `/api/admin/charges/${requestId}/refund`,
        { reason: 'The result was not usable.', ...(index % 2 === 1 && { amount: 1 }) },
      );
      this.refunds.push({ requestId, organization, amount });
    }
  }

  /** Waits until no task is open. */
  async #finishTasks(): Promise<void> {
    await vi.waitFor(
      async () => {
        for (const state of ['queued', 'in_progress']) {
          const { items } = await this.#operator.data<{ items: unknown[] }>(
            'GET',
            `/api/admin/tasks?state=${state}`,
          );
          if (items.length > 0) throw new Error(`${items.length} tasks are ${state}`);
        }
      },
      { timeout: 30_000, interval: 200 },
    );
  }
}
