import type { ComponentChildren } from 'preact';
import { CallPanel } from '../calls/call-panel.tsx';
import { useLoaded } from '../calls/run.ts';
import { samplesOf } from '../calls/samples.ts';
import { Icon } from '../parts/icon.tsx';
import { formatCount, Time } from '../parts/numbers.tsx';
import { Quota } from '../parts/quota.tsx';
import { refreshSession, rights, session } from '../session/session.ts';
import type { Page } from '../shell/page.ts';
import { PageHead } from '../shell/page-head.tsx';
import { addressOf } from '../shell/router.ts';
import './overview.css';

const firstCall = { model: 'alpha3-tts-flash', voice: 'Aria', input: 'Good morning from one key.' };

/** The first page after sign-in: the pages, the key, and the first call. */
export default function OverviewPage({ pages }: { pages: readonly Page[] }) {
  useLoaded(refreshSession);
  const current = session.value;
  if (current === undefined) return null;
  const others = pages.filter(({ path }) => path !== '');
  return (
    <>
      <PageHead title="Overview">
        {rights.value.has('calls') ? 'Create media with one key at ' : 'Usage and statements at '}
        <code>{current.client.baseUrl}</code>.
      </PageHead>
      <div class="stack overview">
        <section>
          <h2>Your key</h2>
          <KeyFacts />
        </section>
        {[...Map.groupBy(others, ({ group }) => group)].map(([group, entries]) => (
          <section key={group}>
            <h2>{group}</h2>
            <ul class="overview-pages">
              {entries.map(({ path, title, icon, summary }) => (
                <li key={path}>
                  <a class="card" href={addressOf(path)}>
                    <Icon node={icon} size={20} />
                    <strong>{title}</strong>
                    <span class="secondary">{summary}</span>
                  </a>
                </li>
              ))}
            </ul>
          </section>
        ))}
        {rights.value.has('calls') && (
          <section>
            <h2>Your first call</h2>
            <CallPanel samples={samplesOf('createSpeech', firstCall, { output: 'morning.wav' })} />
          </section>
        )}
      </div>
    </>
  );
}

function KeyFacts() {
  const me = session.value?.me;
  if (me === undefined) return null;
  const { key, user, group, limits, models, scopes, member } = me;
  const facts: readonly (readonly [string, ComponentChildren])[] = [
    ['Name', key.name],
    ['User', user.name],
    ...(member === null ? [] : [['Member', `${member.name}, ${member.role}`] as const]),
    ['Group', group.ratio === 1 ? group.name : `${group.name}, prices × ${group.ratio}`],
    ['Remaining', key.unlimited_quota ? 'unlimited' : <Quota amount={key.remain_quota} />],
    ['Used', <Quota amount={key.used_quota} />],
    ['Models', formatCount(models.length)],
    ['Scopes', scopes.join(', ') || 'none'],
    [
      'Rate limit',
      limits.requests_per_minute ? `${formatCount(limits.requests_per_minute)} requests per minute` : 'none',
    ],
  ];
  return (
    <dl class="card overview-key">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt class="muted">{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
      <div>
        <dt class="muted">Expires</dt>
        <dd>{key.expired_time < 0 ? 'never' : <Time at={key.expired_time * 1_000} />}</dd>
      </div>
    </dl>
  );
}
