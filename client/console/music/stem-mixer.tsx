import { Download, Pause, Play, Volume2, VolumeX } from 'lucide';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Song } from '../../index.ts';
import { Timeline } from '../parts/audio-player.tsx';
import { Button, IconButton } from '../parts/button.tsx';
import { Icon } from '../parts/icon.tsx';
import { type Fader, Mixer } from './mixer.ts';

/** The stems of a song, played together, each with a fader. */
export function StemMixer({ stems, label }: { stems: readonly Song[]; label: string }) {
  const list = useRef<HTMLUListElement>(null);
  const playable = stems.filter(({ audio_url: url }) => url !== '');
  const mixer = useMemo(() => new Mixer(playable.length), []);
  useEffect(() => mixer.attach([...(list.current?.querySelectorAll('audio') ?? [])]), [mixer]);
  const { playback } = mixer;
  const isPlaying = playback.isPlaying.value;
  return (
    <section class="stems" aria-label={label}>
      <div class="stems-transport">
        <Button
          variant="primary"
          icon={isPlaying ? Pause : Play}
          label={isPlaying ? 'Pause the stems' : 'Play the stems'}
          onClick={() => playback.toggle()}
        />
        <Timeline playback={playback} label="Position in the stems" peaks={undefined} />
      </div>
      <ul ref={list}>
        {playable.map((stem, index) => {
          const fader = mixer.faders[index];
          return fader && <Stem key={stem.clip_id} stem={stem} fader={fader} />;
        })}
      </ul>
    </section>
  );
}

function Stem({ stem: { title, audio_url: url }, fader: { volume, isMuted } }: { stem: Song; fader: Fader }) {
  // The provider names a stem after the song: `Low tide - Vocals`.
  const name = title.split(' - ').at(-1) ?? title;
  return (
    <li data-muted={isMuted.value}>
      <audio src={url} crossOrigin="anonymous" preload="auto" />
      <span class="stem-name">{name}</span>
      <IconButton
        icon={isMuted.value ? VolumeX : Volume2}
        label={isMuted.value ? `Unmute ${name}` : `Mute ${name}`}
        onClick={() => (isMuted.value = !isMuted.value)}
      />
      <input
        type="range"
        min={0}
        max={100}
        aria-label={`Volume of ${name}`}
        value={Math.round(volume.value * 100)}
        onInput={(event) => (volume.value = event.currentTarget.valueAsNumber / 100)}
      />
      <span class="numeric muted">{Math.round(volume.value * 100)} %</span>
      <a class="button button-plain button-icon button-small" href={url} download title="Download">
        <Icon node={Download} />
        <span class="visually-hidden">Download {name}</span>
      </a>
    </li>
  );
}
