/** Preloaded into every measured process: answers each message with the CPU time of all its threads so far. */
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuMicroseconds: user + system });
});
process.on('disconnect', () => process.exit(1));
// It must not keep the process alive.
process.channel?.unref();
