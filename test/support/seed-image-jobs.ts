import type { Store } from '../../server/store/store.ts';
import { TaskSeeder } from './seed-tasks.ts';

/** Inserts the image jobs that the documented requests name: a completed one with buttons, and two that wait for input. */
export async function seedImageJobs(store: Store, userId: number): Promise<void> {
  const jobs = await TaskSeeder.create(store, userId, {
    operation: 'submitImagine',
    format: 'image',
    driver: 'imgjob',
    model: 'imgjob_image',
    unit: 'actions',
    channel: 'imgjob',
    facts: '{"action":"IMAGINE","prompt":"a harbor"}',
  });
  const button = (customId: string) => ({ customId, emoji: '', label: 'Button', type: 2 });
  const finished = {
    image_url: 'https://files.example/harbour.png',
    buttons: [button('IJ::JOB::upsample::1::9f2c'), button('IJ::Inpaint::1::9f2c::SOLO')],
  };
  const done = 'task_0a1b2c3d4e5f60718293a4b5c6d7e8f9';
  await jobs.accept(done, 'done');
  await jobs.finish(done, finished);
  await jobs.accept('task_1b2c3d4e5f60718293a4b5c6d7e8f90a', 'waiting', { waiting: true });
  await jobs.accept('task_2c3d4e5f60718293a4b5c6d7e8f90a1b', 'waiting', { waiting: true });
}
