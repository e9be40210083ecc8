// Copyright 2026 robodyn_ros contributors
// SPDX-License-Identifier: Apache-2.0
//
// The floor of a round trip: a process of C++ that answers each JointState with its positions, in
// the thread of Fast DDS that has received it, without ROS, executor, model or guard. Its writer
// and, unless the second argument is `best_effort`, its reader are RELIABLE with a depth of 10, as
// a publisher and a subscription of ROS 2 with the default QoS are; all else is Fast DDS's default.
//
//   fastdds_echo NAMESPACE reliable | best_effort
//
// ROS_DOMAIN_ID and ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST mean what they do for a node of ROS.
// It ends at SIGINT or SIGTERM.

#include <signal.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>
#include <fastdds/utils/IPLocator.hpp>

namespace fast = eprosima::fastdds::dds;
namespace rtps = eprosima::fastdds::rtps;
using Bytes = std::vector<uint8_t>;     // a message with its encapsulation header

constexpr uint32_t kHeader = 4, kMost = 4096;

// A type whose samples are the bytes of its messages
class Raw : public fast::TopicDataType {
 public:
  explicit Raw(const char* name) {
    set_name(name);
    max_serialized_type_size = kMost;
  }
  bool serialize(const void* data, rtps::SerializedPayload_t& payload,
                 fast::DataRepresentationId_t) override {
    const auto& bytes = *static_cast<const Bytes*>(data);
    if (payload.max_size < bytes.size()) return false;
    std::memcpy(payload.data, bytes.data(), bytes.size());
    payload.encapsulation = CDR_LE;
    payload.length = static_cast<uint32_t>(bytes.size());
    return true;
  }
  bool deserialize(rtps::SerializedPayload_t& payload, void* data) override {
    static_cast<Bytes*>(data)->assign(payload.data, payload.data + payload.length);
    return true;
  }
  uint32_t calculate_serialized_size(const void* data, fast::DataRepresentationId_t) override {
    return static_cast<uint32_t>(static_cast<const Bytes*>(data)->size());
  }
  void* create_data() override { return new Bytes; }
  void delete_data(void* data) override { delete static_cast<Bytes*>(data); }
  bool compute_key(rtps::SerializedPayload_t&, rtps::InstanceHandle_t&, bool) override {
    return false;
  }
  bool compute_key(const void*, rtps::InstanceHandle_t&, bool) override { return false; }
};

// Finds the positions in a JointState; offsets and alignment count from the end of the header
class Cursor {
 public:
  explicit Cursor(const Bytes& bytes) : bytes_(bytes) {}
  void skip(uint32_t count) { at_ += count; }
  void align(uint32_t size) { at_ += (size - at_ % size) % size; }
  uint32_t number() {
    align(4);
    uint32_t value = 0;
    if (kHeader + at_ + 4 <= bytes_.size()) std::memcpy(&value, &bytes_[kHeader + at_], 4);
    at_ += 4;
    return value;
  }
  void text() { skip(number()); }
  const uint8_t* take(uint32_t count) const {
    return kHeader + at_ + count <= bytes_.size() ? &bytes_[kHeader + at_] : nullptr;
  }

 private:
  const Bytes& bytes_;
  uint32_t at_ = 0;
};

class Echo : public fast::DataReaderListener {
 public:
  fast::DataWriter* writer = nullptr;

  void on_data_available(fast::DataReader* reader) override {
    fast::SampleInfo info;
    while (reader->take_next_sample(&state_, &info) == fast::RETCODE_OK)
      if (info.valid_data) answer();
  }

 private:
  Bytes state_, effort_;

  void answer() {
    Cursor at(state_);
    at.skip(8);                                   // stamp
    at.text();                                    // frame_id
    const uint32_t names = at.number();
    for (uint32_t i = 0; i < names && i < 1000; ++i) at.text();
    const uint32_t count = at.number();
    at.align(8);
    const uint8_t* positions = count < 400 ? at.take(8 * count) : nullptr;
    if (!positions) return;
    // Float64MultiArray: no dimensions, data_offset 0, then the numbers
    effort_.assign(kHeader + 16 + 8 * count, 0);
    effort_[1] = 1;                               // little endian
    std::memcpy(&effort_[kHeader + 8], &count, 4);
    std::memcpy(&effort_[kHeader + 16], positions, 8 * count);
    writer->write(&effort_);
  }
};

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  sigset_t ends;                                  // blocked in all threads, and waited for below
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  const std::string space = argv[1], mode = argv[2];
  const char* domain = std::getenv("ROS_DOMAIN_ID");
  const char* range = std::getenv("ROS_AUTOMATIC_DISCOVERY_RANGE");
  auto* factory = fast::DomainParticipantFactory::get_instance();
  fast::DomainParticipantQos qos;
  if (range && !std::strcmp(range, "LOCALHOST")) {
    // As rmw_fastrtps_cpp does it: unicast discovery, of this machine only
    auto& builtin = qos.wire_protocol().builtin;
    rtps::Locator_t any, here;
    builtin.metatrafficUnicastLocatorList.push_back(any);
    rtps::IPLocator::createLocator(LOCATOR_KIND_UDPv4, "127.0.0.1", 0, here);
    builtin.initialPeersList.push_back(here);
  }
  auto* participant = factory->create_participant(domain ? std::atoi(domain) : 0, qos);
  if (!participant) return 1;
  fast::TypeSupport state(new Raw("sensor_msgs::msg::dds_::JointState_"));
  fast::TypeSupport effort(new Raw("std_msgs::msg::dds_::Float64MultiArray_"));
  participant->register_type(state);
  participant->register_type(effort);
  auto* states = participant->create_topic("rt" + space + "/joint_states", state.get_type_name(),
                                           fast::TOPIC_QOS_DEFAULT);
  auto* efforts = participant->create_topic("rt" + space + "/commands", effort.get_type_name(),
                                            fast::TOPIC_QOS_DEFAULT);

  fast::DataWriterQos out = fast::DATAWRITER_QOS_DEFAULT;
  out.reliability().kind = fast::RELIABLE_RELIABILITY_QOS;
  out.history().kind = fast::KEEP_LAST_HISTORY_QOS;
  out.history().depth = 10;
  out.endpoint().history_memory_policy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
  Echo echo;
  echo.writer = participant->create_publisher(fast::PUBLISHER_QOS_DEFAULT)
                    ->create_datawriter(efforts, out);

  fast::DataReaderQos in = fast::DATAREADER_QOS_DEFAULT;
  in.reliability().kind = mode == "best_effort" ? fast::BEST_EFFORT_RELIABILITY_QOS
                                                : fast::RELIABLE_RELIABILITY_QOS;
  in.history().kind = fast::KEEP_LAST_HISTORY_QOS;
  in.history().depth = 10;
  in.endpoint().history_memory_policy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
  auto* reader = participant->create_subscriber(fast::SUBSCRIBER_QOS_DEFAULT)
                     ->create_datareader(states, in, &echo);
  if (!echo.writer || !reader) return 1;
  std::printf("echo %s\n", mode.c_str());
  std::fflush(stdout);
  int received = 0;
  sigwait(&ends, &received);
  participant->delete_contained_entities();       // or shared memory would be left behind
  factory->delete_participant(participant);
  return 0;
}
