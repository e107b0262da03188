// Threads that help with the blocks of a task.
//
// A helper that has just helped looks for the next task for a moment, which takes it up within a microsecond; then it
// sleeps, and is woken on another processor than its waker's. Nobody waits for one that is late: whoever divides claims
// block after block itself, and waits at the end only for blocks that are being divided. Whoever divides while another
// thread has the helpers divides alone.

#include "pool.hpp"

#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "environment.hpp"

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>
#elif defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#include <signal.h>
#endif

namespace vinculum {
namespace {

// How often a helper looks for a task before it sleeps, about half a millisecond.
constexpr int LOOKS = 20'000;
// How often the end of a block is looked for before other threads are let run.
constexpr int IMPATIENCE = 1000;
constexpr int MOST_HELPERS = 255;

void pause() {
#if defined(VINCULUM_X86)
    _mm_pause();
#elif defined(__aarch64__) && defined(__GNUC__)
    __asm__ volatile("isb");
#endif
}

void divide_alone(Task& task) {
    const std::uint64_t environment = enter_ieee_754();
    task.kernel(task);
    restore(environment);
}

class Pool;

class Helper {
  public:
    // Starts its thread; fails where the system gives no more threads.
    bool start(Pool& pool, int number);
    // Wakes the helper if it sleeps.
    void wake();

  private:
    void serve(Pool& pool, int number);

    enum State : int { AWAKE, ASLEEP };
    alignas(CACHE_LINE) std::atomic<int> state_{AWAKE};
#if defined(__linux__)
    std::atomic<pthread_t> thread_{};
    cpu_set_t allowed_{}; // written by whoever wakes it, before it is awake
#endif
};

class Pool {
  public:
    void divide(Task& task, int wanted) {
        if (busy_.exchange(true, std::memory_order_acquire)) return divide_alone(task);
        const int helpers = start(wanted);
        task_ = &task;
        wanted_ = helpers;
        finished_.store(0, std::memory_order_relaxed);
        seats_.store(helpers, std::memory_order_seq_cst);
        wake_from(0);
        divide_alone(task);
        const int joined = helpers - seats_.exchange(0, std::memory_order_seq_cst);
        for (int waited = 1; finished_.load(std::memory_order_acquire) < joined; waited++) {
            if (waited % IMPATIENCE) pause();
            else std::this_thread::yield();
        }
        busy_.store(false, std::memory_order_release);
    }

    // Helps with the task at hand, if there is one that wants help; the seats are taken by whoever is there.
    bool help(int number) {
        int seats = seats_.load(std::memory_order_seq_cst);
        if (seats == 0 || !seats_.compare_exchange_strong(seats, seats - 1, std::memory_order_seq_cst)) return false;
        // Each wakes two more, so that the caller need not wake all of them before it divides itself.
        wake_from(2 * number);
        divide_alone(*task_);
        finished_.fetch_add(1, std::memory_order_release);
        return true;
    }

    bool has_seats() const { return seats_.load(std::memory_order_seq_cst) > 0; }

  private:
    // Wakes two helpers, from a place on.
    void wake_from(int place) {
        for (int i = place; i < place + 2 && i < wanted_; i++) helpers_[i].wake();
    }

    int start(int wanted) {
        if (wanted > MOST_HELPERS) wanted = MOST_HELPERS;
        while (started_ < wanted && helpers_[started_].start(*this, started_ + 1)) started_++;
        return started_ < wanted ? started_ : wanted;
    }

    alignas(CACHE_LINE) std::atomic<int> seats_{0};     // helpers that may still join the task
    alignas(CACHE_LINE) std::atomic<int> finished_{0};  // helpers that joined it and are done
    alignas(CACHE_LINE) std::atomic<bool> busy_{false}; // whether a task has the helpers
    // These belong to whoever is busy; helpers read them between taking a seat and finishing.
    Task* task_ = nullptr;
    int wanted_ = 0, started_ = 0;
    Helper helpers_[MOST_HELPERS];
};

bool Helper::start(Pool& pool, int number) {
#if defined(__unix__) || defined(__APPLE__)
    // Signals are for Python's threads.
    sigset_t every, before;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
#endif
    bool started = true;
    try {
        std::thread([this, &pool, number] { serve(pool, number); }).detach();
    } catch (const std::system_error&) {
        started = false;
    }
#if defined(__unix__) || defined(__APPLE__)
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
#endif
    return started;
}

void Helper::serve(Pool& pool, int number) {
#if defined(__linux__)
    thread_.store(pthread_self(), std::memory_order_relaxed);
#endif
    for (;;) {
        for (int look = 0; look < LOOKS; look++) {
            if (pool.help(number)) look = 0;
            else pause();
        }
        state_.store(ASLEEP, std::memory_order_seq_cst);
        // Seats that were offered before anybody could see it asleep.
        if (pool.has_seats() && state_.exchange(AWAKE, std::memory_order_seq_cst) == ASLEEP) continue;
        state_.wait(ASLEEP, std::memory_order_acquire);
#if defined(__linux__)
        pthread_setaffinity_np(pthread_self(), sizeof allowed_, &allowed_);
#endif
    }
}

void Helper::wake() {
    if (state_.load(std::memory_order_seq_cst) != ASLEEP) return;
#if defined(__linux__)
    // On its waker's own processor, where the system may put it, the two would take turns.
    const pthread_t thread = thread_.load(std::memory_order_relaxed);
    if (sched_getaffinity(0, sizeof allowed_, &allowed_) == 0) {
        cpu_set_t others = allowed_;
        CPU_CLR(sched_getcpu(), &others);
        if (CPU_COUNT(&others) > 0) pthread_setaffinity_np(thread, sizeof others, &others);
    }
#endif
    int asleep = ASLEEP;
    if (state_.compare_exchange_strong(asleep, AWAKE, std::memory_order_acq_rel)) state_.notify_one();
#if defined(__linux__)
    else pthread_setaffinity_np(thread, sizeof allowed_, &allowed_); // it has woken by itself
#endif
}

// Never freed: helpers may be looking at it when the process ends.
std::atomic<Pool*> the_pool{nullptr};

Pool& pool() {
    Pool* found = the_pool.load(std::memory_order_acquire);
    if (found == nullptr) {
        Pool* made = new Pool;
        if (the_pool.compare_exchange_strong(found, made, std::memory_order_acq_rel)) found = made;
        else delete made; // another thread was first
    }
    return *found;
}

#if defined(__unix__) || defined(__APPLE__)
// A forked process has none of the helpers, and begins anew.
const int at_fork = pthread_atfork(nullptr, nullptr, [] { the_pool.store(nullptr); });
#endif

} // namespace

void divide(Task& task, int helpers) {
    if (helpers > 0) pool().divide(task, helpers);
    else divide_alone(task);
}

} // namespace vinculum
